//! The opcode table: the one description of the virtual machine's instructions.
//!
//! Everything that knows about instructions is derived from `for_each_opcode`: the [`Op`] enum, lengths and operand
//! kinds, the disassembler, the verifier and both dispatchers. An instruction is one to three 32-bit words: the
//! opcode in the low byte, then byte operands `a`, `b`, `c` (or one signed 16-bit `d` in place of `b` and `c`, or one
//! signed 24-bit `e` in place of all three), then the whole words `x` and `y`.
//!
//! Jump operands count words from the start of the jumping instruction.

/// Calls `$callback!` with the whole table: `(Name handler (slot: Kind, ...) "meaning")*`.
#[macro_export]
#[doc(hidden)]
macro_rules! for_each_opcode {
    ($callback:ident) => {
        $callback! {
            Nop nop () "does nothing";
            Halt halt () "leaves the interpreter loop";
            // Loads and moves.
            LoadUndefined load_undefined (a: Dst) "a = undefined";
            LoadNull load_null (a: Dst) "a = null";
            LoadTrue load_true (a: Dst) "a = true";
            LoadFalse load_false (a: Dst) "a = false";
            LoadEmpty load_empty (a: Dst) "a = the uninitialised marker";
            LoadInt load_int (a: Dst, d: Imm) "a = int32 d";
            LoadConst load_const (a: Dst, x: Const) "a = constant x";
            Mov mov (a: Dst, b: Src) "a = b";
            // Arithmetic.
            Add add (a: Dst, b: Src, c: Src) "a = b + c";
            Sub sub (a: Dst, b: Src, c: Src) "a = b - c";
            Mul mul (a: Dst, b: Src, c: Src) "a = b * c";
            Div div (a: Dst, b: Src, c: Src) "a = b / c";
            Mod modulo (a: Dst, b: Src, c: Src) "a = b % c";
            Exp exp (a: Dst, b: Src, c: Src) "a = b ** c";
            BitAnd bit_and (a: Dst, b: Src, c: Src) "a = b & c";
            BitOr bit_or (a: Dst, b: Src, c: Src) "a = b | c";
            BitXor bit_xor (a: Dst, b: Src, c: Src) "a = b ^ c";
            Shl shl (a: Dst, b: Src, c: Src) "a = b << c";
            Sar sar (a: Dst, b: Src, c: Src) "a = b >> c";
            Shr shr (a: Dst, b: Src, c: Src) "a = b >>> c";
            AddI add_i (a: Dst, b: Src, x: Imm) "a = b + int32 x";
            SubI sub_i (a: Dst, b: Src, x: Imm) "a = b - int32 x";
            MulI mul_i (a: Dst, b: Src, x: Imm) "a = b * int32 x";
            ModI mod_i (a: Dst, b: Src, x: Imm) "a = b % int32 x";
            BitAndI bit_and_i (a: Dst, b: Src, x: Imm) "a = b & int32 x";
            BitOrI bit_or_i (a: Dst, b: Src, x: Imm) "a = b | int32 x";
            BitXorI bit_xor_i (a: Dst, b: Src, x: Imm) "a = b ^ int32 x";
            ShlI shl_i (a: Dst, b: Src, x: Imm) "a = b << int32 x";
            SarI sar_i (a: Dst, b: Src, x: Imm) "a = b >> int32 x";
            ShrI shr_i (a: Dst, b: Src, x: Imm) "a = b >>> int32 x";
            Inc inc (a: Dst, b: Src) "a = ToNumeric(b) + 1";
            Dec dec (a: Dst, b: Src) "a = ToNumeric(b) - 1";
            Neg neg (a: Dst, b: Src) "a = -b";
            BitNot bit_not (a: Dst, b: Src) "a = ~b";
            Not not (a: Dst, b: Src) "a = !b";
            Typeof type_of (a: Dst, b: Src) "a = typeof b";
            ToNumber to_number (a: Dst, b: Src) "a = ToNumber(b)";
            ToNumeric to_numeric (a: Dst, b: Src) "a = ToNumeric(b)";
            ToString to_string (a: Dst, b: Src) "a = ToString(b)";
            Concat concat (a: Dst, b: Src, x: Count) "a = the strings b, b+1, ... joined, x of them";
            ToPropertyKey to_property_key (a: Dst, b: Src) "a = ToPropertyKey(b)";
            Lt lt (a: Dst, b: Src, c: Src) "a = b < c";
            Le le (a: Dst, b: Src, c: Src) "a = b <= c";
            Gt gt (a: Dst, b: Src, c: Src) "a = b > c";
            Ge ge (a: Dst, b: Src, c: Src) "a = b >= c";
            Eq eq (a: Dst, b: Src, c: Src) "a = b == c";
            Ne ne (a: Dst, b: Src, c: Src) "a = b != c";
            StrictEq strict_eq (a: Dst, b: Src, c: Src) "a = b === c";
            StrictNe strict_ne (a: Dst, b: Src, c: Src) "a = b !== c";
            In has_in (a: Dst, b: Src, c: Src) "a = b in c";
            InstanceOf instance_of (a: Dst, b: Src, c: Src) "a = b instanceof c";
            // Control flow. Backward jumps poll.
            Jump jump (e: Jump) "goto e";
            JTrue j_true (a: Src, x: Jump) "if ToBoolean(a) goto x";
            JFalse j_false (a: Src, x: Jump) "if !ToBoolean(a) goto x";
            JNullish j_nullish (a: Src, x: Jump) "if a is undefined or null goto x";
            JNotNullish j_not_nullish (a: Src, x: Jump) "if a is neither undefined nor null goto x";
            JUndefined j_undefined (a: Src, x: Jump) "if a is undefined goto x";
            JNotUndefined j_not_undefined (a: Src, x: Jump) "if a is not undefined goto x";
            JLt j_lt (a: Src, b: Src, x: Jump) "if a < b goto x";
            JLe j_le (a: Src, b: Src, x: Jump) "if a <= b goto x";
            JGt j_gt (a: Src, b: Src, x: Jump) "if a > b goto x";
            JGe j_ge (a: Src, b: Src, x: Jump) "if a >= b goto x";
            JNotLt j_not_lt (a: Src, b: Src, x: Jump) "if !(a < b) goto x";
            JNotLe j_not_le (a: Src, b: Src, x: Jump) "if !(a <= b) goto x";
            JNotGt j_not_gt (a: Src, b: Src, x: Jump) "if !(a > b) goto x";
            JNotGe j_not_ge (a: Src, b: Src, x: Jump) "if !(a >= b) goto x";
            JEq j_eq (a: Src, b: Src, x: Jump) "if a == b goto x";
            JNe j_ne (a: Src, b: Src, x: Jump) "if a != b goto x";
            JStrictEq j_strict_eq (a: Src, b: Src, x: Jump) "if a === b goto x";
            JStrictNe j_strict_ne (a: Src, b: Src, x: Jump) "if a !== b goto x";
            JLtI j_lt_i (a: Src, x: Jump, y: Imm) "if a < int32 y goto x";
            JLeI j_le_i (a: Src, x: Jump, y: Imm) "if a <= int32 y goto x";
            JGtI j_gt_i (a: Src, x: Jump, y: Imm) "if a > int32 y goto x";
            JGeI j_ge_i (a: Src, x: Jump, y: Imm) "if a >= int32 y goto x";
            JNotLtI j_not_lt_i (a: Src, x: Jump, y: Imm) "if !(a < int32 y) goto x";
            JNotLeI j_not_le_i (a: Src, x: Jump, y: Imm) "if !(a <= int32 y) goto x";
            JNotGtI j_not_gt_i (a: Src, x: Jump, y: Imm) "if !(a > int32 y) goto x";
            JNotGeI j_not_ge_i (a: Src, x: Jump, y: Imm) "if !(a >= int32 y) goto x";
            JStrictEqI j_strict_eq_i (a: Src, x: Jump, y: Imm) "if a === int32 y goto x";
            JStrictNeI j_strict_ne_i (a: Src, x: Jump, y: Imm) "if a !== int32 y goto x";
            // Scopes: heap records of captured variables.
            GetEnv get_env (a: Dst) "a = the scope the running closure captured";
            NewScope new_scope (a: Dst, b: Src, x: Count) "a = new scope of x empty slots, parent b";
            CloneScope clone_scope (a: Dst, b: Src) "a = copy of scope b";
            GetSlot get_slot (a: Dst, b: Src, c: Imm) "a = slot c of scope b";
            SetSlot set_slot (a: Src, b: Src, c: Imm) "slot c of scope b = a";
            GetSlotUp get_slot_up (a: Dst, b: Src, c: Imm, x: Count) "a = slot x, c scopes above b";
            SetSlotUp set_slot_up (a: Src, b: Src, c: Imm, x: Count) "slot x, c scopes above b = a";
            GetCell get_cell (a: Dst, b: Src, c: Imm, x: Count) "a = module binding cell in slot x, c scopes above b";
            SetCell set_cell (a: Src, b: Src, c: Imm, x: Count) "module binding cell in slot x, c scopes above b = a";
            CheckTdz check_tdz (a: Src, x: Const) "throw a ReferenceError naming x if a is uninitialised";
            CheckThis check_this (a: Src) "throw a ReferenceError if this (a) is not bound yet";
            CheckUnbound check_unbound (a: Src) "throw a ReferenceError if this (a) is bound already";
            ThrowConst throw_const (x: Const) "throw the TypeError of assigning to constant x";
            ThrowError throw_error (a: Imm, x: Const) "throw a new error of kind a with message x";
            // Globals.
            GetGlobal get_global (a: Dst, x: Ic) "a = global x, or ReferenceError";
            GetGlobalOrUndefined get_global_or_undefined (a: Dst, x: Ic) "a = global x, or undefined";
            HasGlobal has_global (a: Dst, x: Const) "a = whether there is a global x";
            SetGlobal set_global (a: Src, x: Ic) "global x = a, or ReferenceError";
            InitGlobal init_global (a: Src, x: Ic) "initialise the global lexical binding x";
            DefineGlobalFunction define_global_function (a: Src, x: Ic) "CreateGlobalFunctionBinding(x, a)";
            // Properties.
            GetProp get_prop (a: Dst, b: Src, x: Ic) "a = b.x";
            GetLength get_length (a: Dst, b: Src, x: Ic) "a = b.length";
            GetMethod get_method (a: Dst, b: Src, x: Ic) "a = b.x; a+1 = b";
            SetProp set_prop (a: Src, b: Src, x: Ic) "a.x = b";
            GetElem get_elem (a: Dst, b: Src, c: Src, x: Ic) "a = b[c]";
            SetElem set_elem (a: Src, b: Src, c: Src, x: Ic) "a[b] = c";
            GetElemMethod get_elem_method (a: Dst, b: Src, c: Src, x: Ic) "a = b[c]; a+1 = b";
            DeleteProp delete_prop (a: Dst, b: Src, c: Src) "a = delete b[c]";
            GetSuperBase get_super_base (a: Dst, b: Src) "a = [[Prototype]] of the home object of function b";
            GetSuper get_super (a: Dst, b: Src, c: Src, x: Reg) "a = b[c] with this x, b being a super base";
            SetSuper set_super (a: Src, b: Src, c: Src, x: Reg) "b[c] with this x = a, b being a super base";
            GetPrivate get_private (a: Dst, b: Src, c: Src, x: Ic) "a = b.#c";
            SetPrivate set_private (a: Src, b: Src, c: Src, x: Ic) "a.#b = c";
            AddPrivate add_private (a: Src, b: Src, c: Src, x: Imm) "define private element b of a as c; x: 0 field, 1 method, 2 getter, 3 setter";
            HasPrivate has_private (a: Dst, b: Src, c: Src) "a = #c in b";
            NewPrivateName new_private_name (a: Dst, x: Const) "a = fresh private name described x";
            DefineField define_field (a: Src, b: Src, c: Src) "CreateDataPropertyOrThrow(a, b, c)";
            DefineOwn define_own (a: Src, b: Src, x: Ic) "CreateDataPropertyOrThrow(a, name x, b)";
            DefineMethod define_method (a: Src, b: Src, c: Src, x: Imm) "define method c under key b on a; x: bits 0-1 kind (0 method, 1 getter, 2 setter), bit 2 enumerable";
            SetHome set_home (a: Src, b: Src) "a.[[HomeObject]] = b";
            SetFunctionName set_function_name (a: Src, b: Src, x: Imm) "SetFunctionName(a, b, prefix x: 0 none, 1 get, 2 set)";
            CopyDataProperties copy_data_properties (a: Src, b: Src, c: Src, x: Count) "CopyDataProperties(a, b, excluding registers c..c+x)";
            SetPrototypeLiteral set_prototype_literal (a: Src, b: Src) "__proto__: b in the literal a";
            RequireObjectCoercible require_object_coercible (a: Src) "throw a TypeError if a is undefined or null";
            // Allocation.
            NewObject new_object (a: Dst) "a = {}";
            NewObjectLiteral new_object_literal (a: Dst, b: Src, x: Count) "a = object with the keys of literal x and values b, b+1, ...";
            NewArray new_array (a: Dst, b: Src, x: Count) "a = [b, b+1, ...] of x elements";
            ArrayAppend array_append (a: Src, b: Src) "append b to the array a";
            ArrayHole array_hole (a: Src) "append a hole to the array a";
            ArraySpread array_spread (a: Src, b: Src) "append what b iterates over to the array a";
            NewRegExp new_reg_exp (a: Dst, x: Const, y: Const) "a = /x/y";
            TemplateObject template_object (a: Dst, x: Count) "a = template object of site x";
            Closure closure (a: Dst, b: Src, x: Count) "a = closure of function x over scope b";
            DefineClass define_class (a: Dst, b: Src, c: Src, x: Count) "a, a+1 = constructor and prototype of class x, heritage b, scope c";
            SetFieldsInit set_fields_init (a: Src, b: Src) "class a initialises its instance fields with function b";
            RunFields run_fields (a: Src, b: Src) "initialise the fields of class b on instance a";
            // Calls: b = callee, b+1 = this, b+2... = arguments.
            Call call (a: Dst, b: Src, c: Imm) "a = call with c arguments";
            New new (a: Dst, b: Src, c: Imm) "a = construct with c arguments";
            SuperCall super_call (a: Dst, b: Src, c: Imm, x: Reg) "a = construct the super constructor b, new.target x";
            CallSpread call_spread (a: Dst, b: Src) "a = call b on b+1 with the array b+2";
            NewSpread new_spread (a: Dst, b: Src) "a = construct b with the array b+2";
            SuperCallSpread super_call_spread (a: Dst, b: Src, x: Reg) "a = construct b with the array b+2, new.target x";
            TailCall tail_call (b: Src, c: Imm) "return the call with c arguments, reusing this frame";
            DirectEval direct_eval (a: Dst, b: Src, c: Imm, x: Count, y: Reg) "a = call; if the callee is %eval%, in site x with scope y";
            DirectEvalSpread direct_eval_spread (a: Dst, b: Src, x: Count, y: Reg) "a = call b on b+1 with the array b+2; if the callee is %eval%, in site x with scope y";
            GetSuperConstructor get_super_constructor (a: Dst, b: Src) "a = [[Prototype]] of function b";
            Ret ret (a: Src) "return a";
            RetUndefined ret_undefined () "return undefined";
            CheckConstructorReturn check_constructor_return (a: Dst, b: Src) "derived constructor: a = a if object; else must be undefined, then a = this (b)";
            Throw throw (a: Src) "throw a";
            GetFunction get_function (a: Dst) "a = the running function";
            GetNewTarget get_new_target (a: Dst) "a = new.target";
            CreateArguments create_arguments (a: Dst) "a = the arguments object";
            CreateRest create_rest (a: Dst, b: Imm) "a = array of the arguments from b on";
            // Iteration: b = iterator (or array), b+1 = next method (or index).
            GetIterator get_iterator (a: Dst, b: Src, c: Imm) "a, a+1 = iterator record of b; c = 1: no fast array record";
            GetAsyncIterator get_async_iterator (a: Dst, b: Src) "a, a+1 = async iterator record of b";
            IteratorNext iterator_next (a: Dst, b: Src, x: Jump) "a = next value of b, or goto x";
            IteratorCall iterator_call (a: Dst, b: Src) "a = Call(next method of b)";
            IteratorCallWith iterator_call_with (a: Dst, b: Src, c: Src) "a = Call(next method of b, c)";
            IteratorResult iterator_result (a: Dst, b: Src, x: Jump) "a = value of iterator result b, or goto x if done";
            IteratorClose iterator_close (b: Src) "IteratorClose(b, normal)";
            IteratorCloseSilently iterator_close_silently (b: Src) "IteratorClose(b, throw): errors are dropped";
            IteratorGetMethod iterator_get_method (a: Dst, b: Src, x: Ic) "a = GetMethod(iterator b, name x)";
            CheckObject check_object (a: Src) "throw a TypeError if a, an iterator result, is not an object";
            ForInPrepare for_in_prepare (a: Dst, b: Src) "a = for-in enumeration of b";
            ForInNext for_in_next (a: Dst, b: Src, x: Jump) "a = next key of b, or goto x";
            // Suspension.
            GeneratorStart generator_start () "create the generator object and return it to the caller";
            AsyncStart async_start () "create the promise of this async function";
            Yield yield_value (a: Dst, b: Src, x: Jump) "suspend with b; resumed: a = value, goto x unless it is a return";
            YieldDelegate yield_delegate (a: Dst, b: Src, c: Dst) "suspend with result object b; a = value, c = mode (0 next, 1 throw, 2 return)";
            Await await_value (a: Dst, b: Src) "suspend until b settles; a = its value";
            AsyncReturn async_return (a: Src) "resolve the promise of this async function with a";
            GeneratorReturn generator_return (a: Src) "complete this generator with a";
            // Modules.
            ImportMeta import_meta (a: Dst) "a = import.meta";
            DynamicImport dynamic_import (a: Dst, b: Src, c: Src, x: Imm) "a = import(b, c)";
            // Explicit resource management.
            NewDisposables new_disposables (a: Dst) "a = empty list of disposable resources";
            AddDisposable add_disposable (a: Src, b: Src, x: Imm) "AddDisposableResource(a, b, hint x: 0 sync, 1 async)";
            DisposeSync dispose_sync (a: Src, b: Src, c: Src) "DisposeResources(a) for completion kind b, value c (updated in place)";
            DisposeNext dispose_next (a: Dst, b: Src, c: Src, x: Jump) "call the next disposer of b: a = value to await, goto x when there is none; c = completion kind";
            DisposeError dispose_error (a: Src, b: Src, c: Src) "record the error a of a disposer against completion kind b, value c";
        }
    };
}

/// What an operand means; drives the disassembler and the verifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A register that the instruction writes.
    Dst,
    /// A register that the instruction reads.
    Src,
    /// A register number in a full word.
    Reg,
    /// A signed immediate.
    Imm,
    /// An index or a count, unsigned.
    Count,
    /// An index into the constants.
    Const,
    /// An index into the inline-cache sites.
    Ic,
    /// A jump distance in words.
    Jump,
}

/// Where an operand is stored in the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum Slot {
    /// Second byte.
    a,
    /// Third byte.
    b,
    /// Fourth byte.
    c,
    /// Upper half of the first word, signed.
    d,
    /// Upper 24 bits of the first word, signed.
    e,
    /// Second word.
    x,
    /// Third word.
    y,
}

/// The static description of one opcode.
#[derive(Debug)]
pub struct OpInfo {
    /// The name, as the disassembler prints it.
    pub name: &'static str,
    /// The operands in order.
    pub operands: &'static [(Slot, Kind)],
    /// What it does, in one line.
    pub meaning: &'static str,
}

macro_rules! define_ops {
    ($($name:ident $handler:ident ($($slot:ident : $kind:ident),*) $meaning:literal;)*) => {
        /// One instruction of the virtual machine; see the table for operands and meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Op { $(#[doc = concat!("`", $meaning, "`")] $name),* }

        /// The table, indexed by opcode.
        pub static OPS: &[OpInfo] = &[
            $(OpInfo { name: stringify!($name), operands: &[$((Slot::$slot, Kind::$kind)),*], meaning: $meaning }),*
        ];

        const ALL: &[Op] = &[$(Op::$name),*];
    };
}
for_each_opcode!(define_ops);

/// The number of opcodes.
pub const OP_COUNT: usize = ALL.len();

impl Op {
    /// The opcode of an instruction's first word.
    pub fn decode(word: u32) -> Option<Self> {
        ALL.get((word & 0xff) as usize).copied()
    }

    /// The static description.
    pub fn info(self) -> &'static OpInfo {
        &OPS[self as usize]
    }

    /// The length in words.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> usize {
        const LENGTHS: [u8; OP_COUNT] = {
            let mut lengths = [1u8; OP_COUNT];
            let mut i = 0;
            while i < OP_COUNT {
                let operands = OPS[i].operands;
                let mut j = 0;
                while j < operands.len() {
                    match operands[j].0 {
                        Slot::x => lengths[i] = if lengths[i] < 2 { 2 } else { lengths[i] },
                        Slot::y => lengths[i] = 3,
                        _ => {}
                    }
                    j += 1;
                }
                i += 1;
            }
            lengths
        };
        LENGTHS[self as usize] as usize
    }
}

/// The value of the operand in `slot` of the instruction at the start of `words`.
pub fn operand(words: &[u32], slot: Slot) -> i64 {
    let first = words.first().copied().unwrap_or(0);
    match slot {
        Slot::a => i64::from((first >> 8) & 0xff),
        Slot::b => i64::from((first >> 16) & 0xff),
        Slot::c => i64::from(first >> 24),
        Slot::d => i64::from((first as i32) >> 16),
        Slot::e => i64::from((first as i32) >> 8),
        Slot::x => i64::from(words.get(1).copied().unwrap_or(0) as i32),
        Slot::y => i64::from(words.get(2).copied().unwrap_or(0) as i32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_follow_the_operands() {
        assert_eq!(Op::Nop.len(), 1);
        assert_eq!(Op::GetProp.len(), 2);
        assert_eq!(Op::JLtI.len(), 3);
        const { assert!(OP_COUNT <= 256) };
    }

    #[test]
    fn operands_decode_with_their_signs() {
        let words = [0xfffe_0301, 0xffff_ffff];
        assert_eq!(operand(&words, Slot::a), 3);
        assert_eq!(operand(&words, Slot::d), -2);
        assert_eq!(operand(&words, Slot::x), -1);
    }
}
