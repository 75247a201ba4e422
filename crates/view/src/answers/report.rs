//! `report`: the object of `workspan report --json --statistics`.

use workspan_export::report_json_with;

use crate::answer::Reply;
use crate::failure::Failure;
use crate::run::Run;

pub(crate) fn answer(run: &Run) -> Result<Reply, Failure> {
    let (picture, rest) = (run.picture()?, run.rest()?);
    let json = rest.json.get_or_init(|| {
        let statistics = rest.statistics(picture).ok();
        report_json_with(&picture.dag, &rest.report, &picture.measured, statistics)
    });
    Ok(Reply::Json(json.as_bytes().to_vec()))
}
