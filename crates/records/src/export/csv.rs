//! CSV output of decisions.

use crate::Decisions;
use outflank_games::othello::Othello;
use outflank_games::{Position, Side};
use std::io::{self, Write};

/// Writes the header and one line per decision.
pub fn write_csv(decisions: &Decisions<Othello>, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "game,ply,side,board,move,legal,chosen")?;
    for (decision, source) in decisions.iter() {
        let position = &decision.position;
        let legal = position.move_bits();
        let index = (legal & (decision.chosen.bit() - 1)).count_ones();
        write!(out, "{},{},{},", source.game, source.ply, position.to_move())?;
        out.write_all(&cells(position))?;
        writeln!(out, ",{},{},{index}", decision.chosen, legal.count_ones())?;
    }
    Ok(())
}

fn cells(position: &Othello) -> [u8; 64] {
    let (black, white) = (position.discs(Side::Black), position.discs(Side::White));
    std::array::from_fn(|square| match (black >> square & 1, white >> square & 1) {
        (1, _) => b'X',
        (_, 1) => b'O',
        _ => b'-',
    })
}
