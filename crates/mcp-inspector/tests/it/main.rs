//! Speaking to servers through the service, as the page does.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod api;
mod children;
mod demo;
mod files;
mod styles;
mod web;
mod web_socket;
