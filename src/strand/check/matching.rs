//! `match`: arms typed like branches, every case covered.

use super::checker::Checker;
use super::fault::Fault;
use super::types::{Shape, Ty};
use crate::strand::lang::ast::{Expr, Pattern};
use crate::strand::lang::token::escape;

impl Checker<'_> {
    pub(super) fn matching(
        &mut self,
        expr: &Expr,
        subject: &Expr,
        arms: &[(Pattern, Expr)],
        expected: Option<&Ty>,
    ) -> Ty {
        let subject_ty = self.infer(subject, None);
        let base = self.types.base(&subject_ty);
        let cases = self.cases(&base);
        let mut result = expected.cloned();
        for (pattern, value) in arms {
            let depth = self.locals.len();
            self.pattern(subject, &subject_ty, &base, cases.as_deref(), pattern);
            match &result {
                Some(ty) => {
                    let ty = ty.clone();
                    self.expect(value, &ty);
                }
                None => result = Some(self.infer(value, None)),
            }
            self.locals.truncate(depth);
        }
        if arms.iter().any(|(pattern, _)| matches!(pattern, Pattern::Any)) || base == Ty::Err {
            return result.unwrap_or(Ty::Err);
        }
        let missing: Vec<(String, String)> = match cases {
            Some(cases) => {
                let covered = |name: &str| arms.iter().any(|(pattern, _)| pattern_name(pattern) == name);
                cases.into_iter().filter(|case| !covered(&case.name)).map(|case| (case.text, case.name)).collect()
            }
            None => vec![("_".to_owned(), "_".to_owned())],
        };
        if !missing.is_empty() {
            let on = self.types.show(&subject_ty);
            self.report(expr.node, Fault::NotCovered { on, missing, result: result.clone() });
        }
        result.unwrap_or(Ty::Err)
    }

    /// Returns the cases a type falls into; `None` if there is no end of them.
    fn cases(&self, ty: &Ty) -> Option<Vec<Case>> {
        let plain = |name: &str| Case { name: name.to_owned(), text: name.to_owned(), fields: Vec::new() };
        match ty {
            Ty::Bool => Some(vec![plain("true"), plain("false")]),
            Ty::Option(inner) => {
                let some =
                    Case { name: "some".to_owned(), text: "some(value)".to_owned(), fields: vec![(**inner).clone()] };
                Some(vec![plain("none"), some])
            }
            Ty::Named(id) => match self.types.shape(*id) {
                Shape::Union(variants) => Some(variants.into_iter().map(Case::of_variant).collect()),
                _ => None,
            },
            _ => None,
        }
    }

    fn pattern(&mut self, subject: &Expr, subject_type: &Ty, base: &Ty, cases: Option<&[Case]>, pattern: &Pattern) {
        let name = pattern_name(pattern);
        let binders: &[String] = match pattern {
            Pattern::Some(name) => std::slice::from_ref(name),
            Pattern::Variant(_, binders) => binders,
            _ => &[],
        };
        let fits = match (pattern, base) {
            (Pattern::Any, _) | (_, Ty::Err) | (Pattern::Int(_), Ty::Int) | (Pattern::Text(_), Ty::Text) => true,
            _ => cases.is_some_and(|cases| cases.iter().any(|case| case.name == name)),
        };
        let fields = cases.into_iter().flatten().find(|case| case.name == name).map(|case| case.fields.clone());
        let fields = fields.unwrap_or_default();
        if !fits {
            let subject_type = self.types.show(subject_type);
            self.misfits(subject.node, format!("{subject_type} has no case '{name}'"));
        } else if binders.len() != fields.len() && *base != Ty::Err {
            let (wants, has) = (fields.len(), binders.len());
            self.misfits(subject.node, format!("the case '{name}' has {wants} fields, {has} are named"));
        }
        for (index, binder) in binders.iter().enumerate() {
            self.locals.push((binder.clone(), fields.get(index).cloned().unwrap_or(Ty::Err)));
        }
    }
}

/// One case of a type that can be matched.
struct Case {
    name: String,
    text: String,
    fields: Vec<Ty>,
}

impl Case {
    fn of_variant((name, fields): (String, Vec<(String, Ty)>)) -> Case {
        let names: Vec<&str> = fields.iter().map(|(field, _)| field.as_str()).collect();
        let text = if names.is_empty() { name.clone() } else { format!("{name}({})", names.join(", ")) };
        Case { name, text, fields: fields.into_iter().map(|(_, ty)| ty).collect() }
    }
}

fn pattern_name(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Any => "_".to_owned(),
        Pattern::None => "none".to_owned(),
        Pattern::Some(_) => "some".to_owned(),
        Pattern::Bool(value) => value.to_string(),
        Pattern::Int(digits) => digits.clone(),
        Pattern::Text(text) => escape(text),
        Pattern::Variant(name, _) => name.clone(),
    }
}
