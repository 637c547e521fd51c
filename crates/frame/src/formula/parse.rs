//! From text to expressions: words of a formula, and their precedence, which is R's.

use std::ops::Range;

use super::error::FormulaError;
use super::syntax::{Argument, Binary, Kind, MAX_HEIGHT, Node, Unary};
use crate::place::{VALUE_SHOWN, shown};

/// Formulas are at most this long.
const MAX_BYTES: usize = 1 << 20;

/// A word of a formula.
#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Text(String),
    Name(String),
    /// A name in backquotes, which is always a column.
    Quoted(String),
    /// An operator or a bracket.
    Sign(&'static str),
    End,
}

/// Operators and brackets, longer ones before their beginnings.
const SIGNS: [&str; 26] = [
    "%in%", "%/%", "%%", "**", "||", "&&", "==", "!=", "<=", ">=", "~", "+", "-", "*", "/", "^",
    ":", "|", "&", "!", "<", ">", "(", ")", "[", "]",
];

/// Both sides of a formula; the left one may be missing.
pub(super) fn formula(text: &str) -> Result<(Option<Node>, Node), FormulaError> {
    let mut parser = Parser::new(text)?;
    let left = if parser.at("~") { None } else { Some(parser.expression(0)?) };
    if !parser.at("~") {
        return Err(parser.expected("`~` between the response and the predictors"));
    }
    parser.advance();
    let right = parser.expression(0)?;
    parser.end("an operator such as `+`, or the end")?;
    Ok((left, right))
}

/// One expression, such as a condition.
pub(crate) fn expression(text: &str) -> Result<Node, FormulaError> {
    let mut parser = Parser::new(text)?;
    let node = parser.expression(0)?;
    parser.end("an operator such as `&`, or the end")?;
    Ok(node)
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token, Range<usize>)>,
    next: usize,
    depth: u16,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Result<Self, FormulaError> {
        if text.len() > MAX_BYTES {
            let message =
                format!("found a formula of {} bytes, need at most {MAX_BYTES}", text.len());
            return Err(FormulaError::new("", &(0..0), message));
        }
        Ok(Self { text, tokens: tokens(text)?, next: 0, depth: 0 })
    }

    fn token(&self) -> &Token {
        self.tokens.get(self.next).map_or(&Token::End, |(token, _)| token)
    }

    fn span(&self) -> Range<usize> {
        let end = self.text.len();
        self.tokens.get(self.next).map_or(end..end, |(_, span)| span.clone())
    }

    /// The end of the token before this one.
    fn last_end(&self) -> usize {
        let last = self.next.checked_sub(1).and_then(|last| self.tokens.get(last));
        last.map_or(0, |(_, span)| span.end)
    }

    fn advance(&mut self) {
        self.next += 1;
    }

    fn at(&self, sign: &str) -> bool {
        matches!(self.token(), Token::Sign(found) if *found == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.at(sign);
        self.next += usize::from(found);
        found
    }

    fn expected(&self, need: &str) -> FormulaError {
        let span = self.span();
        let found = match self.token() {
            Token::End => "the end of the formula".to_owned(),
            _ => {
                let word = self.text.get(span.clone()).unwrap_or_default();
                format!("`{}`", shown(word, VALUE_SHOWN))
            }
        };
        FormulaError::new(self.text, &span, format!("found {found}, need {need}"))
    }

    fn end(&self, need: &str) -> Result<(), FormulaError> {
        if *self.token() == Token::End { Ok(()) } else { Err(self.expected(need)) }
    }

    fn node(&self, kind: Kind, start: usize) -> Result<Node, FormulaError> {
        let span = start..self.last_end().max(start);
        let node = Node::new(kind, span.clone());
        if node.height > MAX_HEIGHT { Err(self.too_deep(&span)) } else { Ok(node) }
    }

    fn too_deep(&self, span: &Range<usize>) -> FormulaError {
        let message = format!(
            "found operators or parentheses nested more than {MAX_HEIGHT} deep, need fewer"
        );
        FormulaError::new(self.text, span, message)
    }

    /// An expression whose operators bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Result<Node, FormulaError> {
        if self.depth >= MAX_HEIGHT {
            return Err(self.too_deep(&self.span()));
        }
        self.depth += 1;
        let node = self.operators(least);
        self.depth -= 1;
        node
    }

    fn operators(&mut self, least: u8) -> Result<Node, FormulaError> {
        let start = self.span().start;
        let mut left = self.operand()?;
        loop {
            if self.at("+") || self.at("-") {
                if least > 5 {
                    return Ok(left);
                }
                left = self.sum(left, start)?;
                continue;
            }
            let Some(operator) = self.operator() else { return Ok(left) };
            let binding = operator.binding();
            if binding < least {
                return Ok(left);
            }
            self.advance();
            // Powers group from the right, all others from the left.
            let right = self.expression(binding + u8::from(operator != Binary::Power))?;
            left = self.node(Kind::Binary(operator, Box::new(left), Box::new(right)), start)?;
            if binding == 4 && self.operator().is_some_and(|next| next.binding() == 4) {
                return Err(self.expected("`&` between two comparisons"));
            }
        }
    }

    /// The rest of a sum that begins with `first`.
    fn sum(&mut self, first: Node, start: usize) -> Result<Node, FormulaError> {
        let mut terms = vec![(false, first)];
        loop {
            let minus = self.at("-");
            if !minus && !self.at("+") {
                return self.node(Kind::Sum(terms), start);
            }
            self.advance();
            terms.push((minus, self.expression(6)?));
        }
    }

    fn operator(&self) -> Option<Binary> {
        let Token::Sign(sign) = self.token() else { return None };
        Some(match *sign {
            "|" => Binary::Or,
            "||" => Binary::Bars,
            "&" | "&&" => Binary::And,
            "==" => Binary::Equal,
            "!=" => Binary::Unequal,
            "<" => Binary::Less,
            "<=" => Binary::LessEqual,
            ">" => Binary::Greater,
            ">=" => Binary::GreaterEqual,
            "*" => Binary::Times,
            "/" => Binary::Divide,
            "%%" => Binary::Remainder,
            "%/%" => Binary::Quotient,
            "%in%" => Binary::In,
            ":" => Binary::Colon,
            "^" | "**" => Binary::Power,
            _ => return None,
        })
    }

    /// A number, a name, a call, a list, something in parentheses, or one of these with a sign.
    fn operand(&mut self) -> Result<Node, FormulaError> {
        let start = self.span().start;
        let sign = match self.token() {
            Token::Sign("-") => Some((Unary::Minus, 9)),
            Token::Sign("+") => Some((Unary::Plus, 9)),
            Token::Sign("!") => Some((Unary::Not, 3)),
            _ => None,
        };
        if let Some((sign, binding)) = sign {
            self.advance();
            let inner = self.expression(binding)?;
            return self.node(Kind::Unary(sign, Box::new(inner)), start);
        }
        match self.token().clone() {
            Token::Number(value) => self.leaf(Kind::Number(value), start),
            Token::Text(text) => self.leaf(Kind::Text(text), start),
            Token::Quoted(name) => self.leaf(Kind::Name(name), start),
            Token::Name(name) => self.named(name, start),
            Token::Sign("(") => {
                self.advance();
                let inner = self.expression(0)?;
                self.close(")", start)?;
                self.node(Kind::Group(Box::new(inner)), start)
            }
            Token::Sign("[") => {
                self.advance();
                let items = self.arguments("]", start)?;
                self.list(items, start)
            }
            Token::Sign(_) | Token::End => {
                Err(self.expected("a column, a number, a function or `(`"))
            }
        }
    }

    fn leaf(&mut self, kind: Kind, start: usize) -> Result<Node, FormulaError> {
        self.advance();
        self.node(kind, start)
    }

    /// A column, a call, or a word with a meaning of its own.
    fn named(&mut self, name: String, start: usize) -> Result<Node, FormulaError> {
        self.advance();
        if !self.at("(") {
            let kind = match name.as_str() {
                "." => Kind::Dot,
                "TRUE" => Kind::Logical(true),
                "FALSE" => Kind::Logical(false),
                "Inf" => Kind::Number(f64::INFINITY),
                _ => Kind::Name(name),
            };
            return self.node(kind, start);
        }
        self.advance();
        let arguments = self.arguments(")", start)?;
        if name == "c" {
            self.list(arguments, start)
        } else {
            self.node(Kind::Call(name, arguments), start)
        }
    }

    fn list(&self, items: Vec<Argument>, start: usize) -> Result<Node, FormulaError> {
        self.node(Kind::List(items.into_iter().map(|item| item.value).collect()), start)
    }

    /// Arguments up to the closing bracket.
    fn arguments(
        &mut self, end: &'static str, start: usize,
    ) -> Result<Vec<Argument>, FormulaError> {
        let mut all = Vec::new();
        if self.take(end) {
            return Ok(all);
        }
        loop {
            let name = match (self.token(), self.tokens.get(self.next + 1)) {
                (Token::Name(name), Some((Token::Sign("="), _))) => Some(name.clone()),
                _ => None,
            };
            self.next += 2 * usize::from(name.is_some());
            all.push(Argument { name, value: self.expression(0)? });
            if !self.take(",") {
                self.close(end, start)?;
                return Ok(all);
            }
        }
    }

    fn close(&mut self, end: &'static str, start: usize) -> Result<(), FormulaError> {
        if self.take(end) {
            return Ok(());
        }
        let opened = self.text.get(..start).unwrap_or_default().chars().count() + 1;
        Err(self.expected(&format!("`{end}` for what begins at character {opened}")))
    }
}

/// The words of a text, with their places.
fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, FormulaError> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or(' ');
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (token, length) = token(text, at, rest, first)?;
        all.push((token, at..at + length));
        at += length;
    }
    Ok(all)
}

fn token(text: &str, at: usize, rest: &str, first: char) -> Result<(Token, usize), FormulaError> {
    let digit = |c: char| c.is_ascii_digit();
    let number = first.is_ascii_digit()
        || (first == '.' && rest.get(1..).is_some_and(|rest| rest.starts_with(digit)));
    if number {
        return self::number(text, at, rest);
    }
    if first.is_alphabetic() || first == '.' || first == '_' {
        let inside = |c: char| c.is_alphanumeric() || c == '.' || c == '_';
        let length = rest.find(|c: char| !inside(c)).unwrap_or(rest.len());
        let name = rest.get(..length).unwrap_or_default();
        return Ok((Token::Name(name.to_owned()), length));
    }
    if matches!(first, '"' | '\'' | '`') {
        let Some((inside, length)) = quoted(rest, first) else {
            let message = format!("found a quote that is not closed, need a closing {first}");
            return Err(FormulaError::new(text, &(at..text.len()), message));
        };
        let token = if first == '`' { Token::Quoted(inside) } else { Token::Text(inside) };
        return Ok((token, length));
    }
    let sign = SIGNS.into_iter().chain([",", "="]).find(|sign| rest.starts_with(sign));
    sign.map(|sign| (Token::Sign(sign), sign.len())).ok_or_else(|| {
        let span = at..at + first.len_utf8();
        let message = format!(
            "found `{}`, need names, numbers, functions and operators such as `+`, `*` and `:`; put a name with other characters in backquotes",
            shown(&first.to_string(), 4)
        );
        FormulaError::new(text, &span, message)
    })
}

/// A decimal number, with or without an exponent.
fn number(text: &str, at: usize, rest: &str) -> Result<(Token, usize), FormulaError> {
    let bytes = rest.as_bytes();
    let digits = |mut from: usize| {
        while bytes.get(from).is_some_and(u8::is_ascii_digit) {
            from += 1;
        }
        from
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    // R's mark of a whole number.
    let mark = usize::from(bytes.get(end) == Some(&b'L'));
    let word = rest.get(..end).unwrap_or_default();
    match word.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Token::Number(value), end + mark)),
        _ => {
            let message =
                format!("found `{}`, need a number below 1.8e308", shown(word, VALUE_SHOWN));
            Err(FormulaError::new(text, &(at..at + end), message))
        }
    }
}

/// The text in quotes and the length with them; a backslash takes the next character as it is.
fn quoted(rest: &str, quote: char) -> Option<(String, usize)> {
    let mut inside = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => inside.push(characters.next()?.1),
            c if c == quote => return Some((inside, at + 1)),
            c => inside.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(text: &str) -> String {
        expression(text).unwrap().to_string()
    }

    #[test]
    fn expressions_are_written_as_r_writes_them() {
        for (text, need) in [
            ("a+b*c", "a + b * c"),
            ("I( x ^2)", "I(x^2)"),
            ("a:b/c - 1", "a:b/c - 1"),
            ("-x^2", "-x^2"),
            ("2^-1", "2^-1"),
            ("log(`odd name`+ 1)", "log(`odd name` + 1)"),
            ("bs(x,df=5,knots=c( 1,2))", "bs(x, df = 5, knots = c(1, 2))"),
            ("age>=18&sex=='f' | !x %in% [1, 2]", "age >= 18 & sex == \"f\" | !x %in% c(1, 2)"),
            (".5 + 1e-3 + 10L", "0.5 + 0.001 + 10"),
            ("x ** 2", "x^2"),
        ] {
            assert_eq!(again(text), need);
            assert_eq!(again(need), need);
        }
    }

    #[test]
    fn precedence_is_that_of_r() {
        let shape = |text: &str| match expression(text).unwrap().kind {
            Kind::Binary(operator, ..) => Some(operator),
            _ => None,
        };
        // As `as.list(quote(...))[[1]]` in R.
        for (text, top) in [
            ("a:b^2", Binary::Colon),
            ("-1:3", Binary::Colon),
            ("a %in% b:c", Binary::In),
            ("a * b %in% c", Binary::Times),
            ("a/b/c", Binary::Divide),
            ("a^b^c", Binary::Power),
            ("a == b & c", Binary::And),
            ("a & b | c", Binary::Or),
            ("a + b == c", Binary::Equal),
        ] {
            assert_eq!(shape(text), Some(top), "{text}");
        }
        let Kind::Binary(_, left, _) = expression("a^b^c").unwrap().kind else { panic!() };
        assert_eq!(left.to_string(), "a");
        let Kind::Binary(_, left, _) = expression("a/b/c").unwrap().kind else { panic!() };
        assert_eq!(left.to_string(), "a/b");
        assert!(matches!(expression("-x^2").unwrap().kind, Kind::Unary(Unary::Minus, _)));
        assert!(matches!(expression("!a & b").unwrap().kind, Kind::Binary(Binary::And, ..)));
    }

    #[test]
    fn errors_point_at_the_character() {
        for (text, at, need) in [
            ("y ~ a +", 7, "found the end of the formula, need a column"),
            ("y a", 2, "found `a`, need `~`"),
            ("y ~ a b", 6, "found `b`, need an operator"),
            ("y ~ log(x", 9, "need `)` for what begins at character 5"),
            ("y ~ a $ b", 6, "found `$`"),
            ("y ~ 'a", 4, "a quote that is not closed"),
            ("y ~ 1e999", 4, "need a number below"),
            ("y ~ (a > 1 > 2)", 11, "need `&` between two comparisons"),
        ] {
            let error = formula(text).unwrap_err();
            assert_eq!(error.span().start, at, "{text}: {error}");
            assert!(error.to_string().contains(need), "{text}: {error}");
        }
        let error = formula("y ~ x + heigth)").unwrap_err().to_string();
        assert!(error.ends_with("\n  y ~ x + heigth)\n                ^"), "{error}");
    }

    #[test]
    fn deep_nesting_is_refused_and_long_sums_are_not() {
        let deep = format!("y ~ {}x{}", "(".repeat(5_000), ")".repeat(5_000));
        assert!(formula(&deep).unwrap_err().to_string().contains("nested more than 100 deep"));
        assert!(formula(&format!("y ~ {}x", "x:".repeat(5_000))).is_err());
        assert!(formula(&format!("y ~ {}x", "- ".repeat(5_000))).is_err());
        assert!(formula(&format!("y ~ {}x", "x + ".repeat(50_000))).is_ok());
    }
}
