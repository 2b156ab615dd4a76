//! What the tasks of an exploration share, besides the user's own data.

use super::turn;
use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use stubborn_schedule::objects::{Object, WakeOrder};
use stubborn_schedule::report::Names;
use stubborn_schedule::{ObjectId, Op, Part, ProcessId, World};

/// Workers of the whole operating system process are numbered, and the runs of a worker, so that objects know in which
/// run they were registered.
static WORKERS: AtomicU64 = AtomicU64::new(1);
/// The workers that are at work.
static ACTIVE: Mutex<Vec<u64>> = Mutex::new(Vec::new());
/// Bits of the number of a run.
const RUN_BITS: u32 = 40;

/// Whether another worker that is at work has registered an object in this run.
pub(crate) fn is_foreign(run: u64, mine: u64) -> bool {
    let (worker, me) = (run >> RUN_BITS, mine >> RUN_BITS);
    worker != me && ACTIVE.lock().unwrap_or_else(PoisonError::into_inner).contains(&worker)
}

/// Names that several workers share.
pub(crate) type SharedNames = Arc<Mutex<Names>>;

/// What the user has set.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) stack_size: usize,
    pub(crate) max_threads: usize,
    pub(crate) wake_order: WakeOrder,
    /// So many repetitions of a read that gets the same are a loop that waits.
    pub(crate) spin_after: usize,
    pub(crate) names: SharedNames,
    /// Whether it matters who leads at a barrier.
    pub(crate) leader_is_visible: bool,
    /// Where reference counts are visible.
    pub(crate) counted: Arc<Mutex<super::counts::Places>>,
    /// What is known of loops.
    pub(crate) loops: Arc<Mutex<super::spin::Loops>>,
    /// Whether the end of a thread is a visible operation: somebody asks whether a thread has ended.
    pub(crate) exit_is_visible: bool,
    /// Whether the end of a critical section is a visible operation: somebody asks whether a lock is held, or the algorithm must see
    /// who will unlock.
    pub(crate) unlock_is_visible: bool,
    /// Whether notifications are always operations of their own: somebody notifies without the mutex, or waits for a time.
    pub(crate) notify_is_visible: bool,
    /// A mistake to make on purpose: nobody looks whether the mutex is held when somebody notifies.
    pub(crate) trusts_guards: bool,
    /// Who was busy in a run: what to say if that was cut.
    pub(crate) busy: Arc<Mutex<Option<String>>>,
    /// For the watchdog: how many visible operations were done.
    pub(crate) progress: Arc<crate::watchdog::Progress>,
}

/// What an exploration says that must begin again with visible ends of threads.
pub(crate) const ENDS_MATTER: &str = "somebody asks whether a thread has ended";
/// What an exploration says that must begin again with visible ends of critical sections.
pub(crate) const UNLOCKS_MATTER: &str = "somebody asks whether a lock is held";

/// What an exploration says that must begin again with visible notifications.
pub(crate) const NOTIFICATIONS_MATTER: &str = "somebody notifies without the mutex";

/// What an exploration says that must begin again because it has learned whether a loop waits.
pub(crate) const LOOPS_MATTER: &str = "a loop may wait";

/// What an exploration says that must begin again with leaders at barriers.
pub(crate) const LEADERS_MATTER: &str = "somebody asks who leads at a barrier";
/// What an exploration says that must begin again with more visible reference counts.
pub(crate) const COUNTS_MATTER: &str = "somebody can tell how many own something";

impl Settings {
    /// Makes operations visible that matter after all; false if something else is the matter.
    pub(crate) fn see_more(&mut self, why: &str) -> bool {
        let hidden = match why {
            ENDS_MATTER => &mut self.exit_is_visible,
            UNLOCKS_MATTER => &mut self.unlock_is_visible,
            NOTIFICATIONS_MATTER => &mut self.notify_is_visible,
            LEADERS_MATTER => &mut self.leader_is_visible,
            LOOPS_MATTER | COUNTS_MATTER => return true,
            _ => return false,
        };
        !std::mem::replace(hidden, true)
    }

    /// Says before a schedule which operations are visible, if not only the usual ones are.
    pub(crate) fn mark(&self, schedule: &str) -> String {
        let visible =
            [('e', self.exit_is_visible), ('u', self.unlock_is_visible), ('n', self.notify_is_visible)];
        let mark: String = visible.iter().filter(|(_, is_visible)| *is_visible).map(|(c, _)| *c).collect();
        if mark.is_empty() { schedule.to_owned() } else { format!("{mark}:{schedule}") }
    }

    /// Makes visible what is said before a schedule, and gives the rest.
    pub(crate) fn read_mark<'t>(&mut self, text: &'t str) -> &'t str {
        match text.split_once(':') {
            Some((mark, rest)) if !mark.is_empty() && mark.chars().all(|c| "eun".contains(c)) => {
                self.exit_is_visible = mark.contains('e');
                self.unlock_is_visible = mark.contains('u');
                self.notify_is_visible = mark.contains('n');
                rest
            }
            _ => text,
        }
    }
}

/// An object as reports name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registered {
    pub(crate) kind: &'static str,
    pub(crate) created: Option<&'static Location<'static>>,
    /// For a thread: which.
    pub(crate) process: Option<ProcessId>,
}

/// A step as it was recorded.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) process: ProcessId,
    pub(crate) place: &'static Location<'static>,
    pub(crate) out: u64,
    pub(crate) op: Op,
}

/// What a thread is called, if it is called anything.
pub(crate) type Name = Option<Cow<'static, str>>;

/// A thread of the present run, or room for one.
#[derive(Default)]
pub(crate) struct Thread {
    /// Whether it is one of the present run.
    exists: bool,
    pub(crate) name: Name,
    pub(crate) object: ObjectId,
    pub(crate) created: Option<&'static Location<'static>>,
    pub(crate) n_children: u32,
    pub(crate) is_detached: bool,
    pub(crate) place: Option<&'static Location<'static>>,
    pub(crate) announced: Option<Op>,
    pub(crate) locals: Vec<(usize, Box<dyn Any>)>,
    pub(crate) spin: super::spin::Spin,
    /// Operations of destructors that a panic has put off, the last one first.
    pub(crate) owed: Vec<(Op, &'static Location<'static>)>,
}

impl Thread {
    /// Makes room for a thread of the next run; what was allocated is kept.
    fn forget(&mut self) {
        self.exists = false;
        self.announced = None;
        self.locals.clear();
        self.spin.clear();
        self.owed.clear();
    }
}

/// What the tasks share.
pub(crate) struct State {
    pub(crate) settings: Settings,
    pub(crate) run: u64,
    threads: Vec<Thread>,
    pub(crate) n_threads: usize,
    /// Per thread, the numbers of its children, which are the same in every run.
    children: Vec<Vec<ProcessId>>,
    pub(crate) objects: Vec<Registered>,
    /// Where reference counts were visible when the exploration began.
    pub(crate) counted: super::counts::Places,
    /// Who waits on which condition variable.
    pub(crate) waits: super::waits::Waits,
    /// Threads that have not run.
    pub(crate) newborn: VecDeque<(ProcessId, Box<dyn FnOnce()>)>,
    /// Addresses that atomic pointers have held, in order.
    pub(crate) addresses: Vec<usize>,
    pub(crate) recording: Option<Vec<Recorded>>,
    /// How many loops were assumed to wait.
    pub(crate) n_spins: u64,
}

thread_local! {
    static STATE: RefCell<Option<State>> = const { RefCell::new(None) };
}

pub(crate) fn install(state: State) {
    STATE.with(|slot| *slot.borrow_mut() = Some(state));
}

pub(crate) fn remove() {
    // Destructors of the user's may ask whether there is a state.
    turn::set_records(false);
    if let Ok(Some(state)) = STATE.try_with(|slot| slot.borrow_mut().take()) {
        let worker = state.run >> RUN_BITS;
        ACTIVE.lock().unwrap_or_else(PoisonError::into_inner).retain(|&other| other != worker);
    }
}

/// The state of this thread's exploration. Must not be called from within itself.
pub(crate) fn with_state<R>(f: impl FnOnce(&mut State) -> R) -> R {
    STATE.with(|slot| {
        f(slot.borrow_mut().as_mut().expect("an operation of stubborn-threads outside of `explore`"))
    })
}

impl State {
    pub(crate) fn new(settings: Settings) -> State {
        let worker = WORKERS.fetch_add(1, Ordering::Relaxed);
        ACTIVE.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        let waits = super::waits::Waits::new(&settings);
        let counted = settings.counted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        State {
            settings,
            counted,
            run: worker << RUN_BITS,
            threads: Vec::new(),
            n_threads: 0,
            children: Vec::new(),
            objects: Vec::new(),
            waits,
            newborn: VecDeque::new(),
            addresses: Vec::new(),
            recording: None,
            n_spins: 0,
        }
    }

    pub(crate) fn begin_run(&mut self) {
        self.run += 1;
        turn::set_run(self.run);
        self.threads.iter_mut().filter(|thread| thread.exists).for_each(Thread::forget);
        self.n_threads = 0;
        self.objects.clear();
        self.waits.begin_run();
        turn::set_news(false);
        self.newborn.clear();
        self.addresses.clear();
        if let Some(recording) = &mut self.recording {
            recording.clear();
        }
    }

    /// From now on steps are recorded.
    pub(crate) fn record(&mut self) {
        self.recording = Some(Vec::new());
        turn::set_records(true);
    }

    /// For the record.
    pub(crate) fn announced(&mut self, process: ProcessId, op: &Op, place: &'static Location<'static>) {
        if let Some(thread) = self.thread(process) {
            thread.place = Some(place);
            thread.announced = Some(op.clone());
        }
    }

    /// Does something that belongs to the step in which a process moved. Gives what came of it.
    #[inline]
    pub(crate) fn follow(
        &mut self,
        process: ProcessId,
        part: Part,
        place: &'static Location<'static>,
        world: &mut World,
    ) -> u64 {
        let out = world.follow(process, part).unwrap_or(0);
        if turn::records() {
            let op = Op::on(part.object, part.action).at(std::ptr::from_ref(place) as u64);
            self.announced(process, &op, place);
            self.executed(process, out);
        }
        out
    }

    /// For the record.
    pub(crate) fn executed(&mut self, process: ProcessId, out: u64) {
        let Some(thread) = self.thread(process) else { return };
        if let (Some(place), Some(op)) = (thread.place, thread.announced.take()) {
            let step = Recorded { process, place, out, op };
            self.recording.iter_mut().for_each(|steps| steps.push(step.clone()));
        }
    }

    /// Notes a thread that has asked very often in one run, and where it asked last.
    pub(crate) fn note_busy(&mut self, process: ProcessId, times: u32, place: &'static Location<'static>) {
        let name = self.known(process).and_then(|thread| thread.name.clone());
        let name = name.map_or_else(|| "a thread".to_owned(), Cow::into_owned);
        let said = format!("{name} made {times} of them, the last one at {}:{}", place.file(), place.line());
        *self.settings.busy.lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
    }

    #[inline]
    pub(crate) fn thread(&mut self, process: ProcessId) -> Option<&mut Thread> {
        self.threads.get_mut(process as usize).filter(|thread| thread.exists)
    }

    /// A thread that is only looked at.
    pub(crate) fn known(&self, process: ProcessId) -> Option<&Thread> {
        self.threads.get(process as usize).filter(|thread| thread.exists)
    }

    /// The thread that runs.
    pub(crate) fn me(&mut self) -> &mut Thread {
        &mut self.threads[turn::current() as usize]
    }

    pub(crate) fn is_detached(&self, process: ProcessId) -> bool {
        self.known(process).is_some_and(|thread| thread.is_detached)
    }

    /// Registers an object and gives its number. When a run is given up there is no world any more, and nobody will ask.
    pub(crate) fn register(
        &mut self,
        object: Object,
        registered: Registered,
        world: Option<&mut World>,
    ) -> ObjectId {
        self.objects.push(registered);
        if let Some(world) = world {
            world.create(object);
        }
        self.objects.len() as ObjectId - 1
    }

    /// The same, in the world in which a task runs.
    pub(crate) fn register_here(&mut self, object: Object, registered: Registered) -> ObjectId {
        let mut object = Some(object);
        let here = super::switch::with_world(|world| {
            object.take().map(|object| self.register(object, registered, Some(world)))
        });
        match (here.flatten(), object) {
            (Some(id), _) => id,
            (None, Some(object)) => self.register(object, registered, None),
            (None, None) => 0,
        }
    }

    /// The number of a thread that the running thread starts.
    pub(crate) fn name_child(&mut self) -> ProcessId {
        let parent = turn::current() as usize;
        let me = self.me();
        me.n_children += 1;
        let k = me.n_children;
        if self.children.len() <= parent {
            self.children.resize_with(parent + 1, Vec::new);
        }
        let known = &mut self.children[parent];
        let names = || self.settings.names.lock().unwrap_or_else(PoisonError::into_inner);
        while known.len() < k as usize {
            known.push(names().number(parent as ProcessId, known.len() as u32 + 1));
        }
        known[k as usize - 1]
    }

    /// Adds a thread.
    pub(crate) fn add_thread(
        &mut self,
        process: ProcessId,
        name: Name,
        object: ObjectId,
        created: &'static Location<'static>,
    ) {
        let i = process as usize;
        if self.threads.len() <= i {
            self.threads.resize_with(i + 1, Thread::default);
        }
        let thread = &mut self.threads[i];
        thread.exists = true;
        (thread.name, thread.object, thread.created) = (name, object, Some(created));
        (thread.n_children, thread.is_detached, thread.place) = (0, false, None);
        self.n_threads += 1;
    }
}
