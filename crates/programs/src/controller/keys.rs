//! Objects of the program: known by what they are and where, and made in the world when they are first met.

use super::Controller;
use crate::objects::{self, Children, Life, Pipe, Queue, SysV};
use stubborn_schedule::objects::{
    Barrier, Condvar, CustomObject, Mutex, Object, Once, Process, RwLock, Semaphore, Table, Variable,
};
use stubborn_schedule::{Action, ObjectId, ProcessId, World};

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Mutex,
    RwLock,
    Condvar,
    Semaphore,
    Barrier,
    Once,
    /// A semaphore of a set: the address is the set, the space its number there.
    SysV,
    /// A message queue: the address is its number.
    Queue,
    /// A pipe: the address is its number.
    Pipe,
    /// Four bytes of memory. Their value is how often they were written.
    Memory,
    /// A task: the address is its number.
    Task,
    /// The children of a process: the address is the process.
    Children,
    /// The life of a process: the address is the process.
    Life,
    /// Names of objects that processes share.
    Names,
}

/// An object: what it is, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) kind: Kind,
    pub(crate) space: u64,
    pub(crate) address: u64,
}

impl Controller {
    pub(super) fn create(&mut self, world: &mut World, key: Key, object: Object) -> ObjectId {
        let id = world.create(object);
        self.keys.push(key);
        self.objects.insert(key, id);
        id
    }

    /// The object of a key, made when it is first met.
    pub(super) fn object(&mut self, world: &mut World, key: Key, first: u64) -> ObjectId {
        if let Some(&id) = self.objects.get(&key) {
            return id;
        }
        let custom = |object: Box<dyn CustomObject>| Object::Custom(object);
        let object: Object = match key.kind {
            Kind::Mutex => Mutex::new().into(),
            Kind::RwLock => RwLock::new().into(),
            Kind::Condvar => Condvar::new(self.settings.wake_order).into(),
            Kind::Semaphore => Semaphore::new(first).into(),
            Kind::Barrier => Barrier::new(first).into(),
            Kind::Once => Once::new().into(),
            Kind::SysV if self.learned.wide.contains(&(key.address, key.space)) => {
                custom(Box::new(SysV(first)))
            }
            Kind::SysV => Semaphore::new(first).into(),
            Kind::Pipe => custom(Box::<Pipe>::default()),
            Kind::Memory => Variable::new(0).into(),
            Kind::Queue => custom(Box::<Queue>::default()),
            Kind::Task => Process::new(key.address as ProcessId).into(),
            Kind::Children => custom(Box::<Children>::default()),
            Kind::Life => custom(Box::<Life>::default()),
            Kind::Names => custom(Box::<objects::Names>::default()),
        };
        self.create(world, key, object)
    }

    /// A new process has copies of what is in its parent's memory; what the parent's thread holds there, its copy holds.
    pub(super) fn copy_objects(&mut self, parent: ProcessId, child: ProcessId, world: &mut World) {
        let space = |task: ProcessId| {
            let task = self.tasks[task as usize].as_ref();
            task.map_or(0, |task| u64::from(task.process | self.views[task.slot].image << 20))
        };
        let (from, to) = (space(parent), space(child));
        let is_copied = |key: &Key| {
            use Kind::*;
            key.space == from && matches!(key.kind, Mutex | RwLock | Condvar | Semaphore | Barrier | Once)
        };
        let mut copied: Vec<(ObjectId, Key)> =
            self.objects.iter().filter(|(key, _)| is_copied(key)).map(|(&key, &id)| (id, key)).collect();
        copied.sort_by_key(|&(id, _)| id);
        for (id, key) in copied {
            let mut copy = world.object(id).clone();
            let value = copy.describe();
            let again = match key.kind {
                Kind::Mutex if value == format!("held by {parent}") => Some((Action::Unlock, Action::Lock)),
                Kind::RwLock if value == format!("written by {parent}") => {
                    Some((Action::WriteUnlock, Action::WriteLock))
                }
                _ => None,
            };
            if let Some((unlock, lock)) = again {
                copy.execute(parent, unlock, 0);
                copy.execute(child, lock, 0);
            }
            self.create(world, Key { space: to, ..key }, copy);
        }
    }
}
