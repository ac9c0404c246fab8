//! Lists of the tree that are mostly empty, or mostly hold one element, and then take no memory of their own.

use super::Command;
use std::ops::Deref;

/// A list that is mostly empty, and then a null pointer.
#[derive(Debug, Clone)]
pub struct Rare<T>(Option<Box<Box<[T]>>>);

impl<T> Rare<T> {
    /// Adds an element at the end.
    pub fn push(&mut self, element: T) {
        let mut list = self.0.take().map_or_else(Vec::new, |list| list.into_vec());
        list.push(element);
        *self = Rare::from(list);
    }
}

impl<T> Default for Rare<T> {
    fn default() -> Self {
        Rare(None)
    }
}

impl<T> From<Vec<T>> for Rare<T> {
    #[inline]
    fn from(list: Vec<T>) -> Self {
        Rare(if list.is_empty() { None } else { Some(Box::new(list.into())) })
    }
}

impl<T> Deref for Rare<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.0.as_deref().map_or(&[], |list| list)
    }
}

/// The commands of a pipeline: mostly one.
#[derive(Debug, Clone)]
pub enum Stages {
    /// A command by itself.
    One(Command),
    /// None or several.
    Many(Rare<Command>),
}

impl Deref for Stages {
    type Target = [Command];

    #[inline]
    fn deref(&self) -> &[Command] {
        match self {
            Stages::One(command) => std::slice::from_ref(command),
            Stages::Many(commands) => commands,
        }
    }
}
