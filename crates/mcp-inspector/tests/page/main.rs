//! The page in a real browser.

mod browser;
mod frames;
mod served;
