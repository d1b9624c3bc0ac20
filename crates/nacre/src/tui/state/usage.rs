//! Tokens and cost, of the turn and of what was shown of the session.

use nacre_api::wire::TurnUsage;

use crate::tui::text::grouped;

/// What was used since the session was opened here.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SessionUsage {
    /// Of turns that are over.
    past: TurnUsage,
    pub(crate) turn: TurnUsage,
    pub(crate) n_turns: usize,
    /// Whether a turn had no price.
    is_cost_partial: bool,
}

impl SessionUsage {
    pub(crate) fn end_turn(&mut self, usage: TurnUsage) {
        self.past.input = self.past.input.saturating_add(usage.input);
        self.past.output = self.past.output.saturating_add(usage.output);
        match usage.cost_usd {
            Some(cost) => self.past.cost_usd = Some(self.past.cost_usd.unwrap_or(0.0) + cost),
            None => self.is_cost_partial = true,
        }
        self.past.context = usage.context;
        self.past.window = usage.window;
        self.turn = TurnUsage { input: 0, output: 0, cost_usd: None, ..usage };
        self.n_turns += 1;
    }

    pub(crate) fn input(&self) -> u64 {
        self.past.input.saturating_add(self.turn.input)
    }

    pub(crate) fn output(&self) -> u64 {
        self.past.output.saturating_add(self.turn.output)
    }

    pub(crate) fn cost(&self) -> Option<f64> {
        match (self.past.cost_usd, self.turn.cost_usd) {
            (None, None) => None,
            (past, turn) => Some(past.unwrap_or(0.0) + turn.unwrap_or(0.0)),
        }
    }

    /// How full the model's window is, in percent.
    pub(crate) fn context_percent(&self) -> Option<u64> {
        let TurnUsage { context, window, .. } = self.turn;
        (window > 0).then(|| context.saturating_mul(100) / window)
    }

    /// All of it, for `/cost`.
    pub(crate) fn report(&self) -> String {
        let cost = match (self.cost(), self.is_cost_partial) {
            (Some(cost), false) => dollars(cost),
            (Some(cost), true) => format!("{} and turns without a known price", dollars(cost)),
            (None, _) => "the model's price is not known".to_owned(),
        };
        let context = match self.context_percent() {
            Some(percent) => format!(
                "{} of {} tokens ({percent}%)",
                grouped(self.turn.context),
                grouped(self.turn.window)
            ),
            None => "not known yet".to_owned(),
        };
        format!(
            "Since this screen was opened:\n\nTurns    {}\nInput    {} tokens\nOutput   {} tokens\nCost     {cost}\nWindow   {context}",
            self.n_turns,
            grouped(self.input()),
            grouped(self.output()),
        )
    }
}

/// An amount of money.
pub(crate) fn dollars(amount: f64) -> String {
    if amount < 0.1 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}
