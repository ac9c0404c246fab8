//! Objects, arrays, closures and classes.

use super::super::slow;
use super::outlined;

outlined! {
    new_object => slow::allocation::new_object;
    new_object_literal => slow::allocation::new_object_literal;
    new_array => slow::allocation::new_array;
    array_append => slow::allocation::array_append;
    array_hole => slow::allocation::array_hole;
    array_spread => slow::allocation::array_spread;
    new_reg_exp => slow::allocation::new_reg_exp;
    template_object => slow::allocation::template_object;
    closure => slow::allocation::closure;
    define_class => slow::allocation::define_class;
    set_fields_init => slow::allocation::set_fields_init;
    run_fields => slow::allocation::run_fields;
    create_arguments => slow::allocation::create_arguments;
    create_rest => slow::allocation::create_rest;
}
