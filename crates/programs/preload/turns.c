/* Turns that are known before: a run that begins like the last one need not ask the controller until it is where they part. Whoever stops
 * last lets the next go on, which may be itself; what has been announced is compared with what was announced in the last run, and
 * the controller is asked as soon as something else comes.
 *
 * Part of preload.c.
 */

static uint64_t mixed(uint64_t print, uint64_t word)
{
	print = (print ^ word) * 0x9e3779b97f4a7c15u;
	return print ^ print >> 32;
}

/* Bytes of its data that belong to what a task announces. */
static size_t announced_bytes(const struct slot *slot)
{
	switch (slot->op) {
	case OP_SEMOP:
		return slot->length * sizeof(struct sembuf);
	case OP_SEND:
	case OP_TRY_SEND:
	case OP_PIPE_WRITE:
	case OP_PIPE_TRY_WRITE:
	case OP_NAME_OPEN:
	case OP_NAME_REMOVE:
	case OP_LISTEN:
		return slot->length;
	default:
		return 0;
	}
}

/* What a task announces, as one number. */
static uint64_t print_of(const struct slot *slot)
{
	uint64_t print = mixed(slot->op, slot->site);
	for (int i = 0; i < 4; i++)
		print = mixed(print, slot->args[i]);
	size_t n = announced_bytes(slot);
	for (size_t i = 0; i < n && i < STUBBORN_DATA; i++)
		print = mixed(print, slot->data[i]);
	return print;
}

/* Takes the next turn that is known, if what was announced is what was expected. The caller is the only one that moves. */
static int take_known_turn(void)
{
	uint32_t taken = atomic_load(&sh->taken);
	if (taken >= atomic_load(&sh->n_turns) || taken >= STUBBORN_TURNS)
		return 0;
	struct turn *turn = &sh->turns[taken];
	struct slot *slot = &sh->slots[turn->slot % STUBBORN_SLOTS];
	if (atomic_load(&slot->state) != ANNOUNCED || slot->print != turn->print)
		return 0;
	if (turn->length <= STUBBORN_DATA) {
		memcpy(slot->data, sh->texts + turn->text, turn->length);
		slot->length = turn->length;
	}
	slot->out = turn->out;
	slot->signal = turn->signal;
	atomic_store(&sh->taken, taken + 1);
	atomic_store(&slot->state, MOVING);
	if (slot != me)
		futex_wake(&slot->state);
	return 1;
}
