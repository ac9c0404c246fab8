//! Unit tests of the mailbox's memory: what an idle one keeps, what a busy one uses again.

use super::*;

fn filled(messages: usize) -> Mailbox<u8, ()> {
    let mailbox = Mailbox::push_role(());
    (0..messages).for_each(|_| push(&mailbox));
    mailbox
}

fn push(mailbox: &Mailbox<u8, ()>) {
    let queued = mailbox.push(Envelope::User(1), Fit::Bounded, None);
    assert!(matches!(queued, Push::Queued(_)));
}

/// Places in the queue behind the first message.
fn capacity(mailbox: &Mailbox<u8, ()>) -> usize {
    mailbox.inner.lock().extra.as_ref().map_or(0, |extra| extra.queue.capacity())
}

fn begin(mailbox: &Mailbox<u8, ()>) -> Turn<u8, ()> {
    let mut turn = Turn::empty();
    assert!(mailbox.begin(&mut turn), "it was scheduled");
    turn
}

/// Reads everything, and so much more as each refill finds.
fn read(mailbox: &Mailbox<u8, ()>, refills: &[usize]) {
    let mut turn = begin(mailbox);
    let mut refills = refills.iter();
    loop {
        while turn.batch.pop().is_some() {}
        refills.next().into_iter().for_each(|more| (0..*more).for_each(|_| push(mailbox)));
        if !mailbox.refill_or_idle(&mut turn) {
            return;
        }
    }
}

#[test]
fn an_idle_mailbox_keeps_little_memory() {
    for refills in [&[][..], &[2 * IDLE_QUEUE_KEPT][..], &[2 * IDLE_QUEUE_KEPT, 3], &[3, 2 * IDLE_QUEUE_KEPT]]
    {
        let mailbox = filled(2 * IDLE_QUEUE_KEPT);
        read(&mailbox, refills);
        let kept = capacity(&mailbox);
        assert!(kept <= IDLE_QUEUE_KEPT, "{kept} after {refills:?}");
    }
}

#[test]
fn a_busy_mailbox_uses_its_buffers_again() {
    let mailbox = filled(100);
    let mut turn = begin(&mailbox);
    for _ in 0..20 {
        while turn.batch.pop().is_some() {}
        (0..100).for_each(|_| push(&mailbox));
        assert!(mailbox.refill_or_idle(&mut turn));
        let ready = capacity(&mailbox);
        assert!(ready >= 99, "room for {ready} messages");
    }
}
