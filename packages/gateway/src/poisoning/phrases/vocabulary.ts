/**
 * What a text says to a model, in one language other than English. Sources of regular expressions without unbounded repetition,
 * lower case, without accents in Latin script.
 */
export interface Vocabulary {
  /** Texts without a match contain nothing in this script or language. */
  readonly gate: string
  /** Latin patterns match the text with look-alikes replaced; others match the text itself. */
  readonly isLatin: boolean
  /** To ignore, to forget, no longer valid. */
  readonly ignore: string
  /** Instructions, rules, prompts. */
  readonly orders: string
  /** Previous, all, your. */
  readonly prior: string
  /** Not to tell, to hide, without informing. */
  readonly silent: string
  readonly user: string
  /** To send, to include, to copy. */
  readonly give: string
  /** Entire, all. */
  readonly full: string
  /** Conversation, messages, chat. */
  readonly chat: string
  /** The system prompt of the model. */
  readonly prompt: string
  /** Passwords, keys. */
  readonly secret: string
  /** To read a file. */
  readonly read: string
  /** The model, as the one who is addressed. */
  readonly address: string
  /** From now on, only this text applies. */
  readonly replace: string
}

const g = '[^.!?\\n\\0]'

export const vocabularies: Readonly<Record<string, Vocabulary>> = {
  de: {
    gate: 'anweisung|vorgabe|regeln|instruktion|richtlinie|nutzer|anwender|gesprach|unterhaltung|chatverlauf|systemprompt|nachricht|passw|schlussel|inhalt|\\bki\\b|assistent|diese[mnr]?\\b|mensch|sprachmodell|abschrift',
    isLatin: true,
    ignore: `\\b(?:ignorier|missacht|vergiss|vergesst|vergessen|verwirf|ubergeh|umgeh)|\\bgelten\\snicht\\smehr|\\bnicht\\smehr\\sgelten|\\bhalte\\sdich\\snicht`,
    orders: 'anweisung|vorgabe|regeln|instruktion|richtlinie|systemprompt|aufgabe\\sdes|befehl|auftrag\\b',
    prior: '\\b(?:bisherig|vorherig|fruher|vorig|ursprunglich|obig|alle|deine|ihre)|systemprompt|nutzers\\b',
    silent: `\\b(?:sag|sage|sagt|sagen|erzahl|erzahle|verrate|mitteile)\\b${g}{0,40}\\b(?:nichts|nicht)\\b|\\bohne\\b${g}{0,40}(?:zu\\sinformier|zu\\sbenachrichtig|mitzuteilen|zu\\ssagen|bescheid|wissen)|verschweig|verheimlich|verberge|\\b(?:erwahn|informiere|benachrichtige)\\w{0,4}\\b${g}{0,60}\\bnicht\\b|\\bnichts\\s(?:davon\\s|daruber\\s)?(?:erfahren|wissen|merken|bemerken)|\\bnicht\\s(?:erfahren|merken|wissen)|mitbekommen|\\bheimlich|\\bhinter\\sdem\\srucken|\\bsprich\\snicht`,
    user: '\\b(?:be)?nutzers?\\b|\\bnutzerin|\\banwender|\\buser\\b|\\bmenschen\\b|\\bmensch\\b',
    give: `\\b(?:fug|fuge|fugen|ubergib|ubergeben|ubermittle|ubermitteln|schick|schicke|schicken|sende|senden|kopiere|kopieren|trage|tragen|gib|geben|schreibe|schreiben|leite|hange|hangen|teile)\\b|\\bhinein\\b|aufzurufen|aufrufen|\\babschrift\\b`,
    full: '\\b(?:ganz|gesamt|vollstandig|komplett|bisherig)|\\balle[ns]?\\b|wortlaut|\\bletzten?\\snachricht',
    chat: 'gesprach|unterhaltung|\\bchat|dialog|nachricht|konversation',
    prompt: '(?:dein|ihr)\\w{0,3}\\ssystem-?\\s?prompt',
    secret: 'passw|kennwort|schlussel|zugangsdaten|anmeldedaten|geheimnisse',
    read: '\\b(?:lies|lese|lesen|offne|offnen|lade|ruf)\\b',
    address: `\\b(?:an|fur)\\s(?:den|das|die|alle)\\s(?:ki|ai|llm|sprachmodell)\\b${g}{0,40}:|\\bki-?(?:assistent|modell|agent)\\w{0,4}[^.!?\\n\\0:]{0,40}:|\\bsprachmodell\\b${g}{0,20}:`,
    replace: `(?:ab\\s(?:sofort|jetzt)|von\\snun\\san|kunftig)\\b${g}{0,40}\\b(?:nur|allein|ausschliesslich)\\b${g}{0,30}\\bdiese[mnr]?\\s(?:text|beschreibung)`,
  },
  fr: {
    gate: 'instruction|prompt|consigne|regle|utilisateur|conversation|discussion|messages|invite\\ssysteme|mots?\\sde\\spasse|contenu|\\bia\\b|assistant|\\btexte\\b|modele|echanges|personne',
    isLatin: true,
    ignore: `\\b(?:ignore|ignorez|ignorer|oublie|oubliez|meprise)\\b|\\bne\\s(?:tiens|tenez|respecte|respectez|suis|suivez)\\s(?:plus|pas)|\\bne\\ss['’]appliquent\\splus`,
    orders: 'instruction|consigne|\\bregles|directive|\\binvite\\b|\\bdemande\\sde\\sl|\\btache\\b|\\bprompt',
    prior: `precedent|anterieur|initial|\\btoutes\\sles|\\btoutes\\stes|\\b(?:tes|vos|ton)\\b|systeme|utilisateur`,
    silent: `\\bn['’]en\\s(?:parle|dis|dites|parlez)|\\bne\\s(?:le\\s|lui\\s)?(?:dis|dites|parle|mentionne|mentionnez|revele|revelez|signale|previens|informe)\\b${g}{0,30}\\b(?:pas|rien|jamais)|\\bsans\\s(?:en\\s|que\\s)?(?:prevenir|informer|avertir|le\\sdire|dire|notifier|l['’]utilisateur\\sle\\ssache)|\\b(?:cache|cachez|dissimule|dissimulez)\\b|\\bne\\sdoit\\s(?:rien|pas|jamais)\\s(?:savoir|apprendre|voir|remarquer)|\\ben\\scachette|\\ba\\sl['’]insu|\\binutile\\sque\\b`,
    user: `utilisateur\\b|utilisatrice\\b|\\bl['’]humain|\\bla\\spersonne\\b`,
    give: `\\b(?:inclus|inclure|incluez|transmets|transmettez|transmettre|envoie|envoyez|envoyer|copie|copiez|ajoute|ajoutez|ajouter|mets|mettez|mettre|colle|collez|passe|passez|fournis|fournissez|relance|appelle|appeler|joins|ecris)\\b|\\b(?:recopie|recopiez)\\b`,
    full: '\\b(?:integral|complet|entier)|\\btout(?:e|es)?\\b|\\btous\\b|\\bdernier\\smessage|mot\\spour\\smot|\\bvu(?:s|es)?\\b',
    chat: 'conversation|discussion|\\bechanges\\b|\\bchat\\b|dialogue|messages?\\b|historique',
    prompt: `\\b(?:ton|ta|votre)\\s(?:invite|prompt|message)\\s(?:de\\s)?(?:systeme|du\\ssysteme)?`,
    secret: `mots?\\sde\\spasse|\\bcles?\\sd['’]api|identifiants|cle\\sprivee`,
    read: '\\b(?:lis|lisez|lire|ouvre|ouvrez|charge)\\b',
    address: `\\b(?:pour|a)\\sl['’](?:assistant|agent|ia)\\b${g}{0,40}:|\\battention\\sde\\sl['’]ia\\b${g}{0,40}:|\\bau\\smodele\\sde\\slangage\\b${g}{0,20}:`,
    replace: `(?:desormais|a\\spartir\\sde\\smaintenant|dorenavant)\\b${g}{0,40}\\b(?:seul|seule|uniquement)\\b${g}{0,30}\\bcet?t?e?\\s(?:texte|description)`,
  },
  es: {
    gate: 'instruccion|prompt|reglas|normas|usuario|conversacion|chat|mensaje|contrasena|claves|contenido|\\bia\\b|asistente|\\btexto\\b|modelo',
    isLatin: true,
    ignore: `\\b(?:ignora|ignore|ignorad|olvida|olvide|descarta|desobedece)\\b|\\bhaz\\scaso\\somiso|\\bno\\s(?:sigas|siga|respetes|obedezcas)\\b`,
    orders: 'instruccion|\\breglas|\\bnormas|directric|\\bprompt|\\bordenes|\\bpeticion|\\btarea\\b|\\bmensaje\\sdel\\ssistema',
    prior: 'anterior|previa|original|\\btodas\\slas|\\b(?:tus|sus)\\b|sistema|usuario',
    silent: `\\bno\\s(?:se\\s)?(?:lo\\s|le\\s|les\\s)?(?:digas?|cuentes?|menciones?|informes?|avises?|reveles?|expliques?)\\b|\\bsin\\s(?:avisar|informar|decir|decirle|notificar|que\\sel\\susuario)|\\b(?:oculta|esconde|ocultale|ocultar)\\b|\\bno\\s(?:debe|puede)\\s(?:enterarse|saber|ver|notar)|\\ba\\sespaldas|\\ben\\ssecreto|\\ba\\sescondidas`,
    user: '\\busuari[oa]\\b|\\bhumano\\b',
    give: `\\b(?:incluye|incluya|incluir|envia|envie|enviar|envienos|enviar|copia|copie|anade|anada|adjunta|pasa|pase|pega|pegue|escribe|escriba|pon|ponga|llama|llamar|proporciona|reenvia)\\b|\\b(?:transcribe|transcriba)\\b`,
    full: '\\b(?:completa|completo|entera|entero|integra)\\b|\\btod[oa]s?\\b|\\bultimo\\smensaje|tal\\scual|\\bvist[oa]s?\\b',
    chat: 'conversacion|\\bchat\\b|dialogo|mensajes?\\b|historial',
    prompt: `\\btu\\s(?:prompt|mensaje)\\s(?:del?\\s)?sistema`,
    secret: 'contrasenas?|claves?\\sde\\sapi|credenciales|clave\\sprivada',
    read: '\\b(?:lee|lea|leer|abre|abra|carga)\\b',
    address: `\\b(?:para|al?)\\s(?:el\\s)?(?:modelo|asistente|agente)\\s(?:de\\s)?ia\\b${g}{0,40}:|\\bmodelo\\sde\\slenguaje\\b${g}{0,20}:`,
    replace: `(?:desde\\s(?:este\\smomento|ahora)|a\\spartir\\sde\\sahora)\\b${g}{0,40}\\bsolo\\b${g}{0,30}\\best[ea]\\s(?:texto|descripcion)`,
  },
  pt: {
    gate: 'instruco|prompt|regras|diretrizes|usuario|utilizador|conversa|chat|mensage|senha|chaves|conteudo|\\bia\\b|assistente|\\btexto\\b|modelo',
    isLatin: true,
    ignore: `\\b(?:ignore|ignora|esqueca|esquece|desconsidere|desconsidera|desobedeca)\\b|\\bdeixam\\sde\\svaler|\\bnao\\s(?:siga|respeite|obedeca)\\b`,
    orders: 'instruco|\\bregras|diretriz|\\bprompt|\\bordens|\\btarefa\\b|\\bpedido\\sdo',
    prior: 'anterior|previa|origina|\\btodas\\sas|\\b(?:suas|tuas)\\b|sistema|usuario',
    silent: `\\bnao\\s(?:o\\s|lhe\\s)?(?:conte|diga|mencione|informe|avise|revele|explique)\\b|\\bsem\\s(?:avisar|informar|dizer|contar|notificar|que\\so\\susuario)|\\b(?:esconda|oculte|omita)\\b|\\bnao\\s(?:deve|pode)\\s(?:saber|ver|notar|perceber|descobrir)|\\bem\\ssegredo|\\bas\\sescondidas`,
    user: '\\busuari[oa]\\b|\\butilizador\\b|\\bhumano\\b',
    give: `\\b(?:inclua|incluir|envie|enviar|copie|acrescente|adicione|anexe|passe|cole|coloque|escreva|chame|chamar|forneca|encaminhe)\\b|\\b(?:transcreva)\\b`,
    full: '\\b(?:complet[oa]|inteir[oa]|integra)\\b|\\btod[oa]s?\\b|\\bultima\\smensagem',
    chat: '\\bconversa\\b|\\bchat\\b|dialogo|mensage(?:m|ns)\\b|historico',
    prompt: `\\bseu\\s(?:prompt|mensagem)\\s(?:de|do)\\ssistema`,
    secret: 'senhas?|chaves?\\s(?:de\\s|da\\s)?api|credenciais|chave\\sprivada',
    read: '\\b(?:leia|ler|abra|carregue)\\b',
    address: `\\b(?:para\\so|ao)\\s(?:modelo|assistente|agente)\\s(?:de\\s)?ia\\b${g}{0,40}:|\\bmodelo\\sde\\slinguagem\\b${g}{0,20}:`,
    replace: `(?:a\\spartir\\sde\\sagora|de\\sagora\\sem\\sdiante)\\b${g}{0,40}\\b(?:so|somente|apenas)\\b${g}{0,30}\\best[ea]\\s(?:texto|descricao)`,
  },
  it: {
    gate: 'istruzion|prompt|regole|direttiv|utente|conversazione|chat|messaggi|password|chiavi|contenuto|\\bia\\b|assistente|\\btesto\\b|modello',
    isLatin: true,
    ignore: `\\b(?:ignora|ignorate|ignori|dimentica|dimenticate|trascura)\\b|\\bnon\\s(?:rispettare|seguire|considerare)\\b`,
    orders: 'istruzion|\\bregole|direttiv|\\bprompt|\\bordini|\\bcompito\\b|\\brichiesta\\sdell',
    prior: 'precedent|inizial|original|ricevut|\\btutte\\sle|\\b(?:tue|vostre)\\b|sistema|utente',
    silent: `\\bnon\\s(?:dire|dirlo|dica|menzionare|informare|avvisare|rivelare|spiegare|farne)\\b|\\bsenza\\s(?:avvisare|informare|dire|dirlo|notificare|che\\sl['’]utente)|\\b(?:nascondi|nascondere|ometti)\\b|\\bnon\\s(?:deve|puo)\\s(?:sapere|vedere|accorgersi|scoprire)|\\bdi\\snascosto|\\ball['’]oscuro|\\bin\\ssegreto`,
    user: `\\butente\\b|\\bumano\\b`,
    give: `\\b(?:includi|includere|includa|invia|inviaci|inviare|copia|copiare|aggiungi|aggiungere|allega|passa|passare|incolla|inserisci|inserire|scrivi|chiama|chiamare|richiama|fornisci|inoltra)\\b|\\b(?:trascrivi)\\b`,
    full: `\\b(?:complet[oa]|inter[oa])\\b|\\btutt[aei]\\b|\\bl['’]ultimo\\smessaggio|parola\\sper\\sparola|\\bvist[eio]\\b`,
    chat: 'conversazione|\\bchat\\b|dialogo|messaggi[o]?\\b|cronologia',
    prompt: `\\b(?:tuo|vostro)\\s(?:prompt|messaggio)\\sdi\\ssistema`,
    secret: `password|chiavi?\\sapi|credenziali|chiave\\sprivata`,
    read: '\\b(?:leggi|leggere|legga|apri|aprire|carica)\\b',
    address: `\\b(?:per\\sl['’]|all['’])assistente\\sia\\b${g}{0,40}:|\\bper\\sil\\smodello\\s(?:di\\s)?ia\\b${g}{0,40}:|\\bmodello\\slinguistico\\b${g}{0,20}:`,
    replace: `(?:d['’]ora\\sin\\spoi|da\\sora\\sin\\spoi|da\\sadesso)\\b${g}{0,40}\\b(?:solo|soltanto)\\b${g}{0,30}\\bquest[oa]\\s(?:testo|descrizione)`,
  },
  nl: {
    gate: 'instructies|regels|opdracht|gebruiker|gesprek|chatgeschiedenis|berichten|wachtwoord|sleutels|inhoud|assistent|\\btekst\\b|taalmodel',
    isLatin: true,
    ignore: `\\b(?:negeer|vergeet|sla)\\b`,
    orders: 'instructies|\\bregels|richtlijn|opdracht|\\bprompt',
    prior: '\\bvorige|eerdere|oorspronkelijk|\\balle\\b|\\bje\\b|\\bjouw\\b|systeem',
    silent: `\\bvertel\\b${g}{0,40}\\b(?:niets|niet)\\b|\\bzonder\\b${g}{0,30}(?:informeren|vertellen|melden|waarschuwen|weten)|\\bverberg|\\bverzwijg|\\b(?:vermeld|noem)\\b${g}{0,40}\\bniet\\b|\\bmag\\b${g}{0,40}\\bniet\\sweten|\\bbuiten\\shet\\szicht|\\bstiekem|\\bin\\shet\\sgeheim`,
    user: '\\bgebruiker\\b',
    give: `\\b(?:voeg|stuur|geef|kopieer|zet|plak|roep|schrijf|vul)\\b`,
    full: '\\b(?:volledige?|hele|complete|gehele|alle)\\b|\\blaatste\\sbericht',
    chat: 'gesprek|\\bchat|dialoog|berichten',
    prompt: `\\bje\\ssysteemprompt`,
    secret: 'wachtwoord|sleutels|inloggegevens',
    read: '\\b(?:lees|open|laad)\\b',
    address: `\\bvoor\\s(?:de|het)\\sai\\b${g}{0,40}:|\\btaalmodel\\b${g}{0,20}:`,
    replace: `(?:vanaf\\snu|voortaan)\\b${g}{0,40}\\balleen\\b${g}{0,30}\\bdeze\\s(?:tekst|beschrijving)`,
  },
  pl: {
    gate: 'instrukcj|zasad|polece|uzytkownik|rozmow|czatu|wiadomosc|hasl|klucz|zawartosc|asysten|\\btekst\\b|modelu',
    isLatin: true,
    ignore: `\\b(?:zignoruj|ignoruj|zapomnij|pomin)\\b`,
    orders: 'instrukcj|zasad|polece|wytyczn|\\bprompt',
    prior: 'poprzedni|wczesniejsz|pierwotn|wszystki|\\bswo|systemow',
    silent: `\\bnie\\s(?:mow|informuj|wspominaj|ujawniaj|powiadamiaj)\\b|\\bbez\\s(?:informowania|wiedzy|powiadamiania|mowienia)|\\bukryj\\b|\\bnie\\smoze\\s(?:wiedziec|zobaczyc)|\\bw\\stajemnicy|\\bpotajemnie`,
    user: 'uzytkownik',
    give: `\\b(?:dolacz|dolaczyc|wyslij|przeslij|przekaz|skopiuj|wklej|wpisz|dodaj|wywolaj|podaj)\\b`,
    full: '\\b(?:cal[aey]|pelna|pelny|wszystkie|kompletn\\w)\\b',
    chat: 'rozmow|czatu|\\bczat|dialog|wiadomosc',
    prompt: `\\bswoj\\sprompt\\ssystemowy`,
    secret: 'hasla|klucze|dane\\slogowania',
    read: '\\b(?:przeczytaj|otworz|odczytaj|wczytaj)\\b',
    address: `\\bdla\\s(?:modelu|asystenta)\\sai\\b${g}{0,40}:|\\bmodelu\\sjezykowego\\b${g}{0,20}:`,
    replace: `\\bod\\steraz\\b${g}{0,40}\\btylko\\b${g}{0,30}\\bten\\s(?:tekst|opis)`,
  },
  tr: {
    gate: 'talimat|kurallar|kullanici|konusma|sohbet|mesajlar|parola|sifre|anahtar|icerig|asistan|\\bmetin|modeli',
    isLatin: true,
    ignore: `\\byok\\ssay\\b|\\bgormezden\\sgel\\b|\\bunut\\b|\\bdikkate\\salma\\b`,
    orders: 'talimat|kurallar|yonerge|komutlar|istem',
    prior: '\\bonceki|\\btum\\b|\\bilk\\b|sistem',
    silent: `\\bsoyleme\\b|\\bbahsetme\\b|\\bhaber\\svermeden|\\bbildirmeden|\\bgizle\\b|\\bbilmemeli|\\bgizlice|\\bhaberi\\solmadan`,
    user: 'kullanici',
    give: `\\b(?:ekle|gonder|kopyala|yapistir|yaz|ilet)\\b`,
    full: '\\b(?:tum|butun|tamamini|tam)\\b',
    chat: 'konusma|sohbet|mesajlar|diyalog',
    prompt: `\\bsistem\\sistemini`,
    secret: 'parola|sifre|anahtarlar',
    read: '\\b(?:oku|ac|yukle)\\b',
    address: `\\byapay\\szeka\\smodeli${g}{0,40}:|\\bdil\\smodeli${g}{0,20}:`,
    replace: `\\bbundan\\s(?:sonra|boyle)\\b${g}{0,40}\\byalnizca\\b${g}{0,30}\\bbu\\smetin`,
  },
  zh: {
    gate: '\\p{Script=Han}',
    isLatin: false,
    ignore: '忽略|无视|忘记|忘掉|放弃|抛开|不要遵守|不再遵守|優先於|忽視|無視|优先于用户',
    orders: '指令|指示|规则|規則|提示词|提示詞|设定|設定|准则|任务|命令|要求',
    prior: '之前|以前|先前|所有|全部|你的|最初|系统|系統|上述|用户的|优先于用户',
    silent:
      '(?:不要|请勿|勿|别|不得|无需|不必|不用|切勿)[^。！？\\n\\0]{0,8}(?:告诉|告知|通知|提及|提到|透露|告訴|说明)|(?:不能|不要|别)让[^。！？\\n\\0]{0,6}知道|隐瞒|隱瞞|瞒着|瞞著|悄悄|暗中|保密',
    user: '用户|用戶|使用者|此步骤|这一步|这件事',
    give: '放进|放入|放到|附上|附加|提供|复制|複製|填写|填入|传入|发送|转发|传给|包含|写入|调用|写在',
    full: '完整|全部|整个|所有|全文|最后一条|到目前为止',
    chat: '对话|聊天|会话记录|對話|消息|历史',
    prompt: '你的系统提示|系统提示词复制',
    secret: '密码|密钥|凭证|口令|密碼',
    read: '读取|打开|阅读|讀取|加载',
    address: '(?:致|给|對|对)[^。！？\\n\\0]{0,10}(?:AI|人工智能|ai|大模型|语言模型|智能助手)[^。！？\\n\\0]{0,12}[：:]',
    replace: `从现在[^。！？\\n\\0]{0,8}(?:只|仅)[^。！？\\n\\0]{0,10}(?:本段|本说明|这段|此文)`,
  },
  ja: {
    gate: '[\\p{Script=Hiragana}\\p{Script=Katakana}]',
    isLatin: false,
    ignore: '無視し|忘れ|従わない|破棄し',
    orders: '指示|命令|ルール|プロンプト|設定|規則|ガイドライン|依頼',
    prior: 'これまで|以前|前の|すべて|全て|最初|システム|あなた|利用者の|ユーザーの',
    silent:
      '(?:伝え|教え|知らせ|言わ|報告し|触れ|明かさ|話さ)ない(?:で|こと|ように)|知らせずに|伝えずに|言わずに|内緒|秘密に|隠し|隠す|気づかれない|気づかれ|内密',
    user: 'ユーザー|利用者|使用者|画面の前の人',
    give: '含め|送って|送信し|コピーし|記入し|渡し|入れて|追加し|貼り付け|転送し|呼び出すこと|添付し|書き写し',
    full: 'すべて|全て|全文|全体|最後のメッセージ|全部',
    chat: '会話|チャット|対話|メッセージ|履歴',
    prompt: 'あなたのシステムプロンプト',
    secret: 'パスワード|APIキー|apiキー|認証情報|秘密鍵',
    read: '読み取り|読み、|読んで|開いて|読み込んで',
    address: '(?:AI|ai|人工知能)[^。！？\\n\\0]{0,10}(?:へ|に告ぐ|向け)[：:]|言語モデル[^。！？\\n\\0]{0,10}[：:]',
    replace: `(?:今後は?|これからは?)この[^。！？\\n\\0]{0,10}だけ`,
  },
  ko: {
    gate: '\\p{Script=Hangul}',
    isLatin: false,
    ignore: '무시하|잊고|잊으|잊어|따르지\\s?마',
    orders: '지시|명령|규칙|프롬프트|설정|지침',
    prior: '이전|모든|처음|시스템|당신|기존|앞의',
    silent: '(?:알리|말하|언급하|밝히|보고하|전하)지\\s?(?:마|말|않고)|모르게|몰라야|숨기|숨겨|비밀로|눈치채지\\s?못하|몰래',
    user: '사용자|이용자|화면\\s?앞의\\s?사람',
    give: '포함해|포함하|보내|복사|적으|전달하|넣어|추가하|붙여|첨부하',
    full: '전체|모두|모든|전부|마지막\\s?메시지',
    chat: '대화|채팅|메시지|기록',
    prompt: '당신의\\s?시스템\\s?프롬프트',
    secret: '비밀번호|api\\s?키|암호|인증\\s?정보',
    read: '읽고|읽어|열어|열고',
    address: '(?:AI|ai|인공지능)[^.!?\\n\\0]{0,10}(?:에게|께)[:：]|언어\\s?모델[^.!?\\n\\0]{0,10}[:：]',
    replace: `지금부터[^.!?\\n\\0]{0,12}(?:만|오직)`,
  },
  ru: {
    gate: '[а-яё]{3}',
    isLatin: false,
    ignore: 'игнорируй|игнорируйте|проигнорируй|забудь|забудьте|не\\sсоблюдай|не\\sследуй|отбрось',
    orders: 'инструкц|указани|правил|промпт|директив|задач|команд|распоряжени',
    prior: 'предыдущ|прежн|исходн|все\\s|свои|твои|систем|пользовател',
    silent:
      'не\\s(?:говори|сообщай|рассказывай|упоминай|раскрывай|уведомляй|показывай)|не\\s(?:уведомляя|сообщая|предупреждая|говоря)|скрой|скройте|утаи|тайно|без\\sведома|не\\sдолжен\\s(?:узнать|знать|заметить|видеть)|втайне|тайком|незаметно',
    user: 'пользовател|человек',
    give: 'включи|пришли|отправь|скопируй|впиши|добавь|передай|передав|вставь|вставьте|вызвать\\sэтот|перешли|перепиши',
    full: 'весь|всю|все\\s|целиком|полностью|полный|дословно|последним\\sсообщением',
    chat: 'разговор|переписк|диалог|чат|сообщени|беседу',
    prompt: 'св(?:ой|оего)\\sсистемн',
    secret: 'парол|ключи|учётные\\sданные|секрет',
    read: 'прочитай|прочти|открой|прочитайте',
    address: '(?:ии|ai)-?(?:\\s)?(?:ассистент|модел|агент)[^.!?\\n\\0]{0,40}:|языковой\\sмодели[^.!?\\n\\0]{0,20}:',
    replace: `(?:отныне|с\\sэтого\\sмомента|теперь)[^.!?\\n\\0]{0,30}только\\sэт(?:от|ому|о)\\s(?:текст|описани)`,
  },
  ar: {
    gate: '[ء-ي]',
    isLatin: false,
    ignore: 'تجاهل|انس\\s|انسَ|لا\\sتتبع',
    orders: 'التعليمات|تعليمات|القواعد|الأوامر|أوامر|التوجيهات',
    prior: 'السابقة|جميع|الأصلية|كل\\s|النظام',
    silent: 'لا\\s(?:تخبر|تذكر|تبلغ|تكشف)|دون\\s(?:إعلام|إخبار|علم)|ألا\\sيعرف|أخف|اخف|سرا\\s',
    user: 'المستخدم',
    give: 'تضمين|أرسل|ضع|مرر|انسخ|أضف|استدع',
    full: 'كاملة|بالكامل|بأكملها|كل\\s|جميع',
    chat: 'المحادثة|الدردشة|رسائل|الحوار',
    prompt: 'موجه\\sالنظام',
    secret: 'كلمات\\sالمرور|المفاتيح',
    read: 'اقرأ|افتح',
    address: 'إلى\\s(?:نموذج|مساعد)\\sالذكاء[^.!?\\n\\0]{0,20}:|نموذج\\sاللغة[^.!?\\n\\0]{0,20}:',
    replace: `من\\sالآن\\sفصاعدا[^.!?\\n\\0]{0,20}(?:وحده|فقط)`,
  },
  hi: {
    gate: '\\p{Script=Devanagari}',
    isLatin: false,
    ignore: 'अनदेखा|नज़रअंदाज़|भूल\\sजा',
    orders: 'निर्देश|नियम|आदेश|प्रॉम्प्ट',
    prior: 'पिछले|पहले\\sके|सभी|मूल|अपने|सिस्टम',
    silent: 'मत\\sबता|न\\sबता|किए\\sबिना|बताए\\sबिना|छिपा|छुपा|गुप्त',
    user: 'उपयोगकर्ता',
    give: 'शामिल|भेजें|भेजो|लिखें|डालकर|जोड़ें|कॉपी',
    full: 'पूरी|पूरा|सभी|सारे',
    chat: 'बातचीत|चैट|संवाद|संदेश',
    prompt: 'सिस्टम\\sप्रॉम्प्ट',
    secret: 'पासवर्ड|कुंजी',
    read: 'पढ़ें|पढ़ो|खोलें',
    address: 'एआई\\s?(?:मॉडल|सहायक)[^।\\n\\0]{0,20}:|भाषा\\sमॉडल[^।\\n\\0]{0,20}:',
    replace: `अब\\sसे[^।\\n\\0]{0,12}(?:केवल|सिर्फ)`,
  },
}
