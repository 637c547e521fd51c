//! Responses of survival, ordinal and multinomial families: intervals, levels, and the messages for
//! bad ones.

use ridgewalk_frame::{FamilyName, Frame, Question, Table};

fn frame(text: &str, question: &Question) -> Result<Frame, String> {
    let table = Table::from_bytes("t.csv", text.as_bytes()).unwrap();
    Frame::new(&table, question).map_err(|error| error.to_string())
}

#[test]
fn events_and_intervals_become_the_bounds_of_times() {
    let weibull = Question::new("time", FamilyName::Weibull);
    let text = "time,dead,x\n2,1,1\n3,0,4\n5,1,2\n";
    let found = frame(text, &Question { event: Some("dead".into()), ..weibull.clone() }).unwrap();
    assert_eq!(found.names, ["(Intercept)", "x"]);
    assert_eq!(found.response, [2.0, 3.0, 5.0]);
    assert_eq!(found.upper, Some(vec![2.0, f64::INFINITY, 5.0]));
    // Without the option every time is an event, and a note says what the column is taken for.
    let found = frame(text, &weibull).unwrap();
    assert_eq!((found.names.len(), found.upper), (3, Some(vec![2.0, 3.0, 5.0])));
    assert!(found.notes.iter().any(|note| note.contains("pass --event dead")), "{:?}", found.notes);
    let open = "time,end,x\n2,2,1\n3,,4\n,5,2\n1,4,3\n";
    let found = frame(open, &Question { upper: Some("end".into()), ..weibull }).unwrap();
    assert_eq!(found.response, [2.0, 3.0, 0.0, 1.0]);
    assert_eq!(found.upper, Some(vec![2.0, f64::INFINITY, 5.0, 4.0]));
}

#[test]
fn bad_times_are_refused_with_their_place() {
    let refused = |text: &str, event: Option<&str>, upper: Option<&str>| {
        let question = Question::new("time", FamilyName::LogNormal);
        let [event, upper] = [event, upper].map(|name| name.map(str::to_owned));
        frame(text, &Question { event, upper, ..question }).unwrap_err()
    };
    let message = refused("time,x\n2,1\n0,4\n", None, None);
    assert!(message.contains("line 3") && message.contains("a time above 0"), "{message}");
    let message = refused("time,dead,x\n2,1,1\n3,2,4\n", Some("dead"), None);
    assert!(message.contains("line 3") && message.contains("1 for an event or 0"), "{message}");
    let message = refused("time,end,x\n2,3,1\n3,2,4\n", None, Some("end"));
    assert!(message.contains("line 3") && message.contains("not before its start"), "{message}");
    let message = refused("time,end,x\n2,3,1\n,,4\n", None, Some("end"));
    assert!(message.contains("line 3") && message.contains("a start or an end"), "{message}");
    let question = Question { event: Some("x".into()), ..Question::new("y", FamilyName::Poisson) };
    let message = frame("y,x\n1,0\n2,1\n", &question).unwrap_err();
    assert!(message.starts_with("--event needs a survival family"), "{message}");
}

#[test]
fn levels_are_numbered_in_their_order() {
    let text = "y,x\nlow,1\nhigh,2\nmid,3\nlow,5\n";
    let ordinal = Question::new("y", FamilyName::Ordinal);
    let found = frame(text, &ordinal).unwrap();
    // Thresholds take the place of the intercept.
    assert_eq!(found.names, ["x"]);
    assert_eq!(
        (found.levels, found.response),
        (["high", "low", "mid"].map(String::from).to_vec(), vec![1.0, 0.0, 2.0, 1.0])
    );
    assert!(found.notes.iter().any(|note| note.contains("high < low < mid; --levels changes")));
    let levels = Some(["low", "mid", "high"].map(String::from).to_vec());
    let found = frame(text, &Question { levels, ..ordinal.clone() }).unwrap();
    assert_eq!(found.response, [0.0, 2.0, 1.0, 0.0]);
    let levels = Some(["low", "mid"].map(String::from).to_vec());
    let message = frame(text, &Question { levels, ..ordinal.clone() }).unwrap_err();
    assert!(message.contains("need those of --levels: low, mid"), "{message}");
    // A text predictor has a base level although there is no intercept.
    let text = "y,x\n1,a\n2,b\n3,b\n2,a\n";
    let found = frame(text, &ordinal).unwrap();
    assert_eq!((found.names, found.response), (vec!["x[b]".to_owned()], vec![0.0, 1.0, 2.0, 1.0]));
    let message = frame("y,x\n1,1\n1000,2\n", &ordinal).unwrap_err();
    assert!(message.contains("found 1000 levels, need between 2 and 64"), "{message}");
    let found =
        frame("y,x\nb,1\na,2\nc,4\nb,5\n", &Question::new("y", FamilyName::Multinomial)).unwrap();
    assert_eq!((found.names.len(), found.response), (2, vec![1.0, 0.0, 2.0, 1.0]));
}
