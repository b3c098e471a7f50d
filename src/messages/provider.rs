//! Why a model could not be asked or did not answer, and what to do about it.

messages! {
    no_right(host, code, key): "{host} does not permit this ({code}): {key}", "{host}が許可していません（{code}）: {key}";
    no_right_hint(quoted): "The key has no right to this model or address. {quoted}", "このキーにはこのモデルまたはアドレスの権限がありません。{quoted}";
    no_such_model(model, host, code): "there is no model {model} at {host} ({code})", "{host}にモデル{model}はありません（{code}）";
    nothing_at(url, code): "there is nothing at {url} ({code})", "{url}には何もありません（{code}）";
    check_wire(wire): "Check baseUrl: it must be a server that speaks {wire}.", "baseUrlを確認してください。{wire}に対応したサーバーが必要です。";
    another_address: "another address", "別のアドレス";
    redirects(host, to, code): "{host} redirects to {to} ({code})", "{host}は{to}へ転送します（{code}）";
    set_base_url: "Set baseUrl or OPENAI_BASE_URL to that address.", "そのアドレスをbaseUrlかOPENAI_BASE_URLに設定してください。";
    quota(code, host): "the quota of this key is used up ({code} from {host})", "このキーの利用枠を使い切りました（{host}から{code}）";
    quota_hint: "Add to it, or choose another model or provider. Your message is saved.", "利用枠を追加するか、別のモデルや提供元を選んでください。メッセージは保存されています。";
    rate_limited_hint: "Your message is saved. Ask again later, or choose another model.", "メッセージは保存されています。あとで再依頼するか、別のモデルを選んでください。";
    rate_limited(host): "{host}: rate limited (429)", "{host}: レート制限中（429）";
    overloaded(host, code): "{host} is overloaded ({code})", "{host}は過負荷です（{code}）";
    server_failed(host, code): "{host} failed ({code})", "{host}でエラーが発生しました（{code}）";
    saved_quoted(quoted): "Your message is saved. {quoted}", "メッセージは保存されています。{quoted}";
    refused(host, code): "{host} refuses the request ({code})", "{host}がリクエストを拒否しました（{code}）";
    too_long_hint(quoted): "/compact makes it shorter; a model with a larger context window takes it whole. {quoted}", "/compactで短くするか、コンテキストウィンドウの大きいモデルを使ってください。{quoted}";
    does_not_fit(model): "the conversation does not fit {model}", "会話が{model}に収まりません";
    own_headers: "headers in the configuration", "設定のheaders";
    set_it: "Set it and start nebula again; this session will be here.", "設定してnebulaを再起動してください。このセッションは残ります。";
    set_it_quoted(quoted): "Set it and start nebula again; this session will be here. {quoted}", "設定してnebulaを再起動してください。このセッションは残ります。{quoted}";
    wants_key(host, code, variable): "{host} wants a key ({code}), and {variable} is not set", "{host}にはキーが必要ですが（{code}）、{variable}が設定されていません";
    rejected_key(host, code, key): "{host} rejected the key ({code}): {key}", "{host}がキーを拒否しました（{code}）: {key}";
    key_not_taken(quoted): "The key is set, but the server does not take it. Set a valid one and start nebula again; this session will be here. {quoted}", "キーは設定されていますが、サーバーが受け付けません。有効なキーを設定してnebulaを再起動してください。このセッションは残ります。{quoted}";
    check_headers(quoted): "Check headers in the configuration. {quoted}", "設定のheadersを確認してください。{quoted}";
    no_connection(why): "no connection can be made from here: {why}", "接続できません: {why}";
    check_proxy: "Check the proxy settings and the certificates of this computer.", "このコンピューターのプロキシ設定と証明書を確認してください。";
    untrusted(host, why): "untrusted certificate of {host}: {why}", "{host}の証明書を信頼できません: {why}";
    start_server: "Your message is saved. Start the server, or choose another provider.", "メッセージは保存されています。サーバーを起動するか、別の提供元を選んでください。";
    check_network_proxy: "Your message is saved. Check the network, the URL, and the proxy that HTTPS_PROXY or its like names.", "メッセージは保存されています。ネットワーク、URL、HTTPS_PROXYなどのプロキシを確認してください。";
    check_network: "Your message is saved. Check the network and the URL.", "メッセージは保存されています。ネットワークとURLを確認してください。";
    unreachable(host, cause): "{host} cannot be reached: {cause}", "{host}に接続できません: {cause}";
    no_answer(host): "{host} does not answer", "{host}が応答しません";
    saved: "Your message is saved.", "メッセージは保存されています。";
    closed(host): "{host} closed the connection", "{host}が接続を閉じました";
    silent(host): "{host} stopped answering", "{host}の応答が止まりました";
    answers_with(host, what): "{host} answers with {what}", "{host}の応答が不正です: {what}";
    check_base_url(wire): "Check that baseUrl is the address of a server that speaks {wire}.", "baseUrlが{wire}に対応したサーバーのアドレスか確認してください。";
    key_not_set(host, variable): "no key for {host}: {variable} is not set", "{host}のキーがありません: {variable}が設定されていません";
    key_not_named(host): "no key for {host}: apiKeyEnv names no variable", "{host}のキーがありません: apiKeyEnvに変数がありません";
    set_key: "Set it and start nebula again, or start a local server.", "設定してnebulaを再起動するか、ローカルサーバーを起動してください。";
    choose_other: "Choose another, or start with --model NAME.", "別のモデルを選ぶか、--model NAMEで起動してください。";
    nearest(names, hint): "The nearest on offer: {names}. {hint}", "近い名前のモデル: {names}。{hint}";
    it_says(says): "It says: {says}", "サーバーの応答: {says}";
    unsaid: "The server does not say why.", "サーバーは理由を示していません。";
}
