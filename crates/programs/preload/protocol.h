/* What the controlled program and the controller share: one block of memory, mapped by both.
 *
 * A task is a thread of the program, in whichever process it is, and has a slot. Before a visible operation it writes the
 * operation into its slot, counts itself out of those that move, and sleeps on the slot's state. When nobody moves the
 * program is in a global state, and the controller lets one task go on. `src/shared.rs` mirrors this file.
 */
#ifndef STUBBORN_PROTOCOL_H
#define STUBBORN_PROTOCOL_H

#include <stdatomic.h>
#include <stdint.h>

#define STUBBORN_MAGIC 0x53545542u
#define STUBBORN_SLOTS 512
#define STUBBORN_DATA 8192
#define STUBBORN_SETS 64
#define STUBBORN_WAITED 256
#define STUBBORN_TURNS 8192
#define STUBBORN_TEXT (1 << 20)

enum { FREE, MOVING, ANNOUNCED, ENDED, CRASHED };

enum {
	/* Not visible: the controller lets the task go on at once. */
	OP_START = 1, OP_SEM_INIT, OP_BARRIER_INIT, OP_SYSV_SET, OP_FORGET, OP_PIPE_END, OP_REFUSE, OP_FILE,
	/* Visible. */
	OP_EXIT = 16, OP_PROCESS_EXIT, OP_JOIN, OP_WAIT_CHILD,
	OP_LOCK, OP_TRY_LOCK, OP_UNLOCK,
	OP_READ_LOCK, OP_WRITE_LOCK, OP_TRY_READ_LOCK, OP_TRY_WRITE_LOCK, OP_READ_UNLOCK, OP_WRITE_UNLOCK,
	OP_WAIT, OP_WAKE, OP_TIMED_WAKE, OP_SIGNAL, OP_BROADCAST,
	OP_ACQUIRE, OP_TRY_ACQUIRE, OP_RELEASE,
	OP_ARRIVE, OP_LEAVE,
	OP_TOSS, OP_ASSERT,
	OP_SEMOP, OP_SYSV_GET,
	OP_BEGIN, OP_COMPLETE,
	OP_SEND, OP_RECEIVE, OP_TRY_SEND, OP_TRY_RECEIVE,
	OP_ACCESS,
	OP_PIPE_READ, OP_PIPE_WRITE, OP_PIPE_TRY_READ, OP_PIPE_TRY_WRITE, OP_PIPE_CLOSE,
	/* The other threads of the process end. */
	OP_DIE,
	/* Names of objects that processes share. */
	OP_NAME_OPEN, OP_NAME_REMOVE,
	/* Memory is copied in which other threads work. */
	OP_FORK,
	/* Signals: to another process, a wait for one, a change of what is done about them, and a sleep that one may end. */
	OP_KILL, OP_PAUSE, OP_HANDLE, OP_SLEEP,
	/* Listening to several pipes. */
	OP_PIPE_LOOK, OP_LISTEN
};

struct slot {
	_Atomic uint32_t state;
	uint32_t op;
	/* Objects are named by their addresses, in an address space of their own unless they are shared. */
	uint64_t args[4];
	uint64_t out;
	/* Where the operation was called. */
	uint64_t site;
	uint32_t parent;
	uint32_t process;
	int32_t os_pid;
	int32_t os_tid;
	uint32_t length;
	uint32_t is_thread;
	/* How many programs there were in the process before. */
	uint32_t image;
	/* How often it has announced, and what it has announced, as one number. */
	uint32_t serial;
	uint64_t print;
	/* Signals that wait until they are let through, and signals that are nothing to the process. */
	uint64_t blocked;
	uint64_t ignored;
	/* Signals after which calls are made again that had to wait. */
	uint64_t restarts;
	/* A signal that comes before what was announced, and STUBBORN_WAITED if that had to wait; or 0. */
	uint32_t signal;
	uint32_t unused;
	uint8_t data[STUBBORN_DATA];
};

/* A turn that is known before: a task that has announced this goes on with that. */
struct turn {
	uint32_t slot;
	/* How much of the texts it gets, from where on; UINT32_MAX for nothing. */
	uint32_t length;
	uint32_t text;
	uint32_t signal;
	uint64_t print;
	uint64_t out;
};

struct shared {
	uint32_t magic;
	/* Tasks that move. */
	_Atomic uint32_t running;
	/* Changes whenever the controller should look; it sleeps on this. */
	_Atomic uint32_t event;
	_Atomic uint32_t n_slots;
	_Atomic uint32_t n_processes;
	/* The run that the server is to begin, and the last that it has cleared away. */
	_Atomic uint32_t wanted;
	_Atomic uint32_t cleared;
	_Atomic uint32_t is_ready;
	_Atomic uint32_t n_pipes;
	/* The processor on which everybody runs, and one more; 0 for any. */
	uint32_t processor;
	int32_t main_pid;
	int32_t main_status;
	int32_t controller;
	/* Whether signals between processes are explored. */
	uint32_t has_signals;
	/* Where the program was loaded. */
	uint64_t base;
	/* Why the program cannot be controlled. */
	char message[256];
	/* Sizes of semaphore sets. */
	_Atomic uint32_t n_sets;
	int32_t set_keys[STUBBORN_SETS];
	int32_t set_sizes[STUBBORN_SETS];
	struct slot slots[STUBBORN_SLOTS];
	/* Turns that are known before, and how many of them were taken. */
	_Atomic uint32_t n_turns;
	_Atomic uint32_t taken;
	struct turn turns[STUBBORN_TURNS];
	uint8_t texts[STUBBORN_TEXT];
};

#endif
