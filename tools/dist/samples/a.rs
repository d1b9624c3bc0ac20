pub struct Tide;

impl Tide {
    pub fn alpha_rs(&self) -> u8 {
        1
    }
}
