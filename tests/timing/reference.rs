//! What the operators that wait should give, worked out from the whole script at once.

/// What happens to the input, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Event {
    Set(u32),
    Complete,
    Fail,
}

/// What the output tells, as text, and when.
pub(crate) type Heard = Vec<(u64, String)>;

/// The values before the end, and the end.
struct Input {
    values: Vec<(u64, u32)>,
    end: Option<(u64, Event)>,
}

fn split(script: &[(u64, Event)]) -> Input {
    let at = script.iter().position(|step| !matches!(step.1, Event::Set(_)));
    let values =
        script[..at.unwrap_or(script.len())].iter().filter_map(|&(t, event)| match event {
            Event::Set(value) => Some((t, value)),
            _ => None,
        });
    Input { values: values.collect(), end: at.map(|at| script[at]) }
}

impl Input {
    /// What is heard of values, each with the moment at which it is due and that from which it waits; what is not due
    /// before the end comes with a completion and is dropped by an error.
    fn heard(&self, due: Vec<(u64, String)>, lists: bool) -> Heard {
        let mut heard = vec![];
        let mut rest = vec![];
        for (t, value) in due {
            match self.end {
                Some((end, _)) if t > end => rest.push(value),
                _ => heard.push((t, value)),
            }
        }
        match self.end {
            Some((end, Event::Complete)) => {
                // One value waits at the most, or what waits is one list.
                let last = rest.pop().filter(|last| !lists || last != "[]");
                heard.extend(last.map(|value| (end, value)));
                heard.push((end, "complete".into()));
            }
            Some((end, _)) => heard.push((end, "error".into())),
            None => (),
        }
        heard
    }
}

/// Values less than `quiet` apart.
fn bursts(values: &[(u64, u32)], quiet: u64) -> Vec<&[(u64, u32)]> {
    values.chunk_by(|a, b| b.0 - a.0 < quiet).collect()
}

pub(crate) fn debounce(script: &[(u64, Event)], d: u64, leading: bool, trailing: bool) -> Heard {
    let input = split(script);
    let mut due = vec![];
    for burst in bursts(&input.values, d) {
        if leading {
            due.push((burst[0].0, burst[0].1.to_string()));
        }
        if trailing && (!leading || burst.len() > 1) {
            let last = burst[burst.len() - 1];
            due.push((last.0 + d, last.1.to_string()));
        }
    }
    input.heard(due, false)
}

pub(crate) fn throttle(script: &[(u64, Event)], d: u64, leading: bool, trailing: bool) -> Heard {
    let input = split(script);
    let (mut due, mut values) = (vec![], input.values.iter().peekable());
    while let Some(&(t, value)) = values.next() {
        let (mut end, mut waiting) = (t + d, Some(value));
        if leading {
            due.push((t, value.to_string()));
            waiting = None;
        }
        loop {
            while let Some(&(_, value)) = values.next_if(|next| next.0 < end) {
                waiting = trailing.then_some(value);
            }
            let Some(last) = waiting.take().filter(|_| trailing) else { break };
            due.push((end, last.to_string()));
            end += d;
        }
    }
    input.heard(due, false)
}

pub(crate) fn audit(script: &[(u64, Event)], d: u64) -> Heard {
    let input = split(script);
    let (mut due, mut values) = (vec![], input.values.iter().peekable());
    while let Some(&(t, mut value)) = values.next() {
        while let Some(next) = values.next_if(|next| next.0 < t + d) {
            value = next.1;
        }
        due.push((t + d, value.to_string()));
    }
    input.heard(due, false)
}

pub(crate) fn delay(script: &[(u64, Event)], d: u64) -> Heard {
    let input = split(script);
    let due = input.values.iter().map(|&(t, value)| (t + d, value.to_string()));
    match input.end {
        Some((end, Event::Complete)) => due.chain([(end + d, "complete".into())]).collect(),
        Some((end, _)) => due.filter(|due| due.0 <= end).chain([(end, "error".into())]).collect(),
        None => due.collect(),
    }
}

pub(crate) fn sample_time(script: &[(u64, Event)], period: u64) -> Heard {
    let input = split(script);
    let periods = input.values.chunk_by(|a, b| a.0 / period == b.0 / period);
    let due = periods.map(|chunk| {
        let last = chunk[chunk.len() - 1];
        ((last.0 / period + 1) * period, last.1.to_string())
    });
    input.heard(due.collect(), false)
}

pub(crate) fn buffer_time(script: &[(u64, Event)], period: u64, until: u64) -> Heard {
    let input = split(script);
    let due = (0..=until / period).map(|k| {
        let own = input.values.iter().filter(|value| value.0 / period == k);
        let list: Vec<_> = own.map(|value| value.1).collect();
        ((k + 1) * period, format!("{list:?}"))
    });
    let mut due: Vec<_> = due.collect();
    if let Some((end, _)) = input.end {
        // Of those that are cut off, only the one under way.
        due.retain(|due| due.0 <= end + period && due.0 <= (end / period + 1) * period);
    } else {
        due.retain(|due| due.0 <= until);
    }
    input.heard(due, true)
}

pub(crate) fn timeout(script: &[(u64, Event)], d: u64, until: u64) -> Heard {
    let input = split(script);
    let (mut heard, mut last) = (vec![], 0);
    for &(t, value) in &input.values {
        if t >= last + d {
            break;
        }
        heard.push((t, value.to_string()));
        last = t;
    }
    match input.end {
        Some((end, event)) if end < last + d => {
            let all = heard.len() == input.values.len();
            assert!(all, "an end before the limit comes after all values");
            heard.push((end, if event == Event::Complete { "complete" } else { "error" }.into()));
        }
        _ if last + d <= until => heard.push((last + d, "error".into())),
        _ => (),
    }
    heard
}
