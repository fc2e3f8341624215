//! The page in a real browser.
//!
//! What it is held to, and the tests that do so; `everything` speaks to the reference server, all
//! others to a misbehaving server of our own or to recordings.
//!
//! | # | what | tests |
//! |---|---|---|
//! | 1 | no request off the origin, no login | `faults::nothing_is_asked_of_others_and_nobody_must_log_in` |
//! | 2 | row 1 is `initialize` | `process::the_first_row_is_initialize_and_the_second_its_answer`, `everything::it_is_connected_listed_called_read_and_prompted` |
//! | 3 | as many rows as frames on the wire | `faults::every_frame_on_the_wire_is_a_row_and_initialize_is_the_first` |
//! | 4 | a log line on standard output is a row with its exact text | `faults::a_log_line_is_a_row_with_its_exact_text` |
//! | 5 | standard error in the order of time | `process::standard_error_is_listed_in_the_order_of_time` |
//! | 6, 7 | a wrong id is linked to the open request, and `p` returns | `faults::a_wrong_id_is_linked_to_the_open_request_and_p_returns` |
//! | 8 | an id of another type is said to be one | `faults::an_id_of_another_type_is_said_to_be_one` |
//! | 9 | no `content` is an error, and nowhere "success" | `faults::a_result_without_content_is_an_error_and_nothing_says_success` |
//! | 10 | raw is what was on the wire | `faults::raw_is_what_was_on_the_wire` |
//! | 11 | bad content is one finding at its place | `faults::bad_content_is_one_finding_at_its_place` |
//! | 12, 13 | listed faults are a table that leads to the argument | `faults::listed_faults_are_a_table_with_the_value_that_was_sent`, `speak::a_tool_is_called_through_its_form_and_faults_are_marked_first` |
//! | 14, 15 | a bad tool is named, the place in it pointed at, the others stay usable | `faults::a_bad_tool_is_named_and_the_place_in_it_is_pointed_at` |
//! | 16 | an output mismatch is laid to the server's result | `faults::an_output_mismatch_is_laid_to_the_servers_result` |
//! | 17, 18 | malformed frames have findings of their own; the mark of a truncated one ends at its last byte | `faults::each_malformed_frame_is_a_row_with_its_own_finding` |
//! | 19 | a second answer is linked to the first | `faults::a_second_answer_is_linked_to_the_first` |
//! | 20 | bad progress and a bad log level: one finding each | `faults::bad_progress_and_a_bad_log_level_are_one_finding_each` |
//! | 21 | a crash: exit code, last line of standard error, all rows, why calls have ended | `process::a_crash_says_how_and_why_and_everything_stays` |
//! | 22 | malformed frames and hanging calls hold up nothing | `process::malformed_frames_and_hanging_calls_hold_up_nothing` |
//! | 23 | `n`, `/`, filters, unknown terms | `frames::keys_filters_and_reloads_keep_their_promises` |
//! | 24 | a replay keeps `_meta`, raw text need not be JSON | `speak::a_frame_is_sent_again_with_its_meta_and_compared`, `speak::text_that_is_not_json_is_sent_as_it_is` |
//! | 25 | a reload keeps the selection; export and import give the same rows; 50,000 frames scroll | `frames::keys_filters_and_reloads_keep_their_promises`, `files::what_is_exported_and_dropped_on_the_page_has_the_same_rows`, `frames::fifty_thousand_frames_scroll_without_a_stall` |
//! | 26 | token, `Origin` and `Host` on every route | `service::tests::every_route_wants_the_token_and_refuses_foreign_hosts_and_pages`, in the crate itself |
//! | 27 | a hostile server | `faults::a_hostile_server_does_not_break_the_page`, `frames::fifty_thousand_frames_and_hostile_text_leave_the_page_alive`, `process::floods_of_ten_thousand_messages_are_all_listed` |

#![allow(clippy::unwrap_used, clippy::tests_outside_test_module, reason = "an integration test")]

mod accessibility;
mod browser;
mod everything;
mod faults;
mod files;
mod forms;
mod frames;
mod live;
mod pictures;
mod process;
mod served;
mod session;
mod speak;
mod typing;
