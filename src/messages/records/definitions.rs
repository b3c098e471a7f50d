//! Faults of the definitions of a Strand store, and losses where two changes of one met. Their sentences are short and would
//! be taken for others: they are looked for only where a store speaks.

pub(super) const RECORDS: &[(&str, &str)] = &[
    // Findings of a merge.
    (
        "Added twice at once; {winner} holds the name, the body of {loser} does not show",
        "同時に2回追加されました。名前は{winner}のもので、{loser}の本体は表示されません",
    ),
    (
        "Another definition holds the name '{name}'; rename this one",
        "'{name}'は別の定義の名前です。この定義の名前を変えてください",
    ),
    (
        "'{name}' means the slot here, but written anew it would mean the binder of that name; rename one",
        "ここの'{name}'はslotですが、書き直すと同じ名前の束縛変数になります。どちらかの名前を変えてください",
    ),
    (
        "edit by {author} was made while the body was replaced; it does not show",
        "{author}の編集（edit）は、本体が置き換えられる間に行われたため、反映されていません",
    ),
    (
        "replace by {author} was made while the body was replaced; it does not show",
        "{author}の置換（replace）は、本体が別に置き換えられる間に行われたため、反映されていません",
    ),
    (
        "{op} by {author} was made while the body was replaced; it does not show",
        "{author}の{op}は、本体が置き換えられる間に行われたため、反映されていません",
    ),
    (
        "'{register}' was written while its unit was deleted",
        "'{register}'は、それを含む部分が削除される間に書き込まれました",
    ),
    (
        "This was written against '{name}' as it was before it changed; see whether it still fits",
        "変更される前の'{name}'に合わせて書かれています。今も合うか確認してください",
    ),
    ("This op has no effect: {why}", "この操作は無効です: {why}"),
    // Faults of definitions.
    ("Reference to undefined {layer} '{name}'", "未定義の{layer} '{name}' を参照しています"),
    ("Type mismatch: expected {expected}, found {found}", "型が合いません: {expected}が必要ですが、{found}です"),
    (
        "Nominal type mismatch: expected {expected}, found {found}",
        "名目型が合いません: {expected}が必要ですが、{found}です",
    ),
    ("Value {value} violates {type}: {predicate}", "値{value}は{type}の条件を満たしません: {predicate}"),
    ("Match on {on} does not cover {missing}", "{on}のmatchに{missing}の場合がありません"),
    (
        "Effect {effect} uses {primitive} without capability '{capability}'",
        "effect {effect}は権限'{capability}'なしで{primitive}を使っています",
    ),
    ("Capability '{capability}' is not granted", "権限'{capability}'は許可されていません"),
    ("Effect '{effect}' must be emitted, not called", "effect '{effect}'は呼び出せません。emitしてください"),
    ("Slot '{slot}' is written outside a reducer statement", "slot '{slot}'がreducerの文の外で書き込まれています"),
    ("Tile {tile} emits effect '{effect}'", "tile {tile}がeffect '{effect}'をemitしています"),
    ("{who} reads slot '{slot}'", "{who}がslot '{slot}'を読み取っています"),
    ("{who} writes slot '{slot}'", "{who}がslot '{slot}'に書き込んでいます"),
    ("{who} emits effect '{effect}'", "{who}がeffect '{effect}'をemitしています"),
    ("Event selector '{event}' does not name a tile", "イベントの指定'{event}'にtileの名前がありません"),
    ("Tile {tile} raises no event '{event}'", "tile {tile}にイベント'{event}'はありません"),
    ("{who} refers to itself", "{who}が自分自身を参照しています"),
    ("Lambdas are not allowed; name a fn", "ラムダ式は使えません。fnの名前を指定してください"),
    ("null is not a value", "nullという値はありません"),
    ("Predicate is outside the decidable subset", "条件が判定できる範囲を超えています"),
    ("Dangling reference to removed {layer} '{name}'", "削除された{layer} '{name}' を参照しています"),
    ("Cyclic dependency: {path}", "依存が循環しています: {path}"),
    (
        "Slot '{slot}' is written more than once in reducer {reducer} (first at body:{first})",
        "slot '{slot}'がreducer {reducer}で複数回書き込まれています（最初はbody:{first}）",
    ),
    ("{element} has no {argument}", "{element}に{argument}がありません"),
    ("The {what} '{name}' is given twice", "{what} '{name}'が重複しています"),
    ("The argument '{name}' is given twice", "引数'{name}'が重複しています"),
    ("The field '{name}' is given twice", "フィールド'{name}'が重複しています"),
    ("The parameter '{name}' is given twice", "パラメーター'{name}'が重複しています"),
    ("The variant '{name}' is given twice", "バリアント'{name}'が重複しています"),
    // Types that do not fit, in words.
    ("Type mismatch: {name} takes no named arguments", "型が合いません: {name}は名前付きの引数を取りません"),
    (
        "Type mismatch: {name} takes {wants} arguments, {given} are given",
        "型が合いません: {name}の引数は{wants}個ですが、{given}個あります",
    ),
    (
        "Type mismatch: {name} takes at least {wants} arguments, {given} are given",
        "型が合いません: {name}の引数は{wants}個以上ですが、{given}個あります",
    ),
    (
        "Type mismatch: {name} takes {wants} types, {given} are given",
        "型が合いません: {name}の型引数は{wants}個ですが、{given}個あります",
    ),
    ("Type mismatch: {name} takes no types", "型が合いません: {name}は型引数を取りません"),
    ("Type mismatch: {name} takes no children", "型が合いません: {name}は子要素を持てません"),
    ("Type mismatch: {name} takes no '{argument}'", "型が合いません: {name}に'{argument}'は指定できません"),
    ("Type mismatch: {name} needs '{argument}'", "型が合いません: {name}には'{argument}'が必要です"),
    ("Type mismatch: checkbox needs 'bind' or 'value'", "型が合いません: checkboxには'bind'か'value'が必要です"),
    ("Type mismatch: the fields of {name} need names", "型が合いません: {name}のフィールドには名前が必要です"),
    ("Type mismatch: {name} needs the name of a fn", "型が合いません: {name}にはfnの名前が必要です"),
    ("Type mismatch: bind needs the name of a slot", "型が合いません: bindにはslotの名前が必要です"),
    ("Type mismatch: item needs a new name", "型が合いません: itemには新しい名前が必要です"),
    ("Type mismatch: event needs a bare name", "型が合いません: eventには名前だけを指定してください"),
    ("Type mismatch: invalid regex", "型が合いません: 正規表現が正しくありません"),
    (
        "Type mismatch: matches needs its pattern as a text literal",
        "型が合いません: matchesのパターンは文字列で直接書いてください",
    ),
    (
        "Type mismatch: expected a fn that gives {type}, found {found}",
        "型が合いません: {type}を返すfnが必要ですが、{found}です",
    ),
    (
        "Type mismatch: expected a record with field '{name}', found {found}",
        "型が合いません: フィールド'{name}'を持つレコードが必要ですが、{found}です",
    ),
    (
        "Type mismatch: expected a slot of {wanted}, found {found}",
        "型が合いません: {wanted}のslotが必要ですが、{found}です",
    ),
    ("Type mismatch: {type} has no field '{name}'", "型が合いません: {type}にフィールド'{name}'はありません"),
    ("Type mismatch: {type} has no variant '{name}'", "型が合いません: {type}にバリアント'{name}'はありません"),
    ("Type mismatch: {type} has no case '{name}'", "型が合いません: {type}に'{name}'の場合はありません"),
    ("Type mismatch: {type} has no predicate", "型が合いません: {type}に条件はありません"),
    ("Type mismatch: {effect} has no {kind} type", "型が合いません: {effect}に{kind}の型はありません"),
    ("Type mismatch: refine needs a type, found {found}", "型が合いません: refineには型が必要ですが、{found}です"),
    (
        "Type mismatch: {name} takes {wanted}, the elements are {found}",
        "型が合いません: {name}は{wanted}を取りますが、要素は{found}です",
    ),
    (
        "Type mismatch: {name} gives {found}, the values are {wanted}",
        "型が合いません: {name}は{found}を返しますが、値は{wanted}です",
    ),
    (
        "Type mismatch: {type} cannot be a key or a member of a set",
        "型が合いません: {type}はキーや集合の要素にできません",
    ),
    ("Type mismatch: there is no primitive '{name}'", "型が合いません: プリミティブ'{name}'はありません"),
    ("Type mismatch: the event sends nothing", "型が合いません: このイベントは何も送りません"),
    (
        "Type mismatch: the event '{name}' sends {there} elsewhere, {here} here",
        "型が合いません: イベント'{name}'は別の場所で{there}を、ここで{here}を送ります",
    ),
    (
        "Type mismatch: the event '{name}' sends nothing elsewhere, {here} here",
        "型が合いません: イベント'{name}'は別の場所で何も送りませんが、ここで{here}を送ります",
    ),
    (
        "Type mismatch: the event '{name}' sends {there} elsewhere, nothing here",
        "型が合いません: イベント'{name}'は別の場所で{there}を送りますが、ここで何も送りません",
    ),
    ("Type mismatch: the value of {name} goes nowhere", "型が合いません: {name}の値が使われていません"),
    (
        "Type mismatch: reducer {name} takes {wanted}, found {found}",
        "型が合いません: reducer {name}は{wanted}を取りますが、{found}です",
    ),
    ("Type mismatch: {digits} is too large for Int", "型が合いません: {digits}はIntには大きすぎます"),
    ("Type mismatch: cannot infer the type of {text}", "型が合いません: {text}の型を推論できません"),
    ("Type mismatch: {type} constructs no value", "型が合いません: {type}で値は作れません"),
    ("Type mismatch: {text} does not construct a {type}", "型が合いません: {text}で{type}は作れません"),
    (
        "Type mismatch: the case '{name}' has {wants} fields, {given} are named",
        "型が合いません: '{name}'のフィールドは{wants}個ですが、名前は{given}個です",
    ),
];
