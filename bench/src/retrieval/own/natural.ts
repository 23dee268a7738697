/** A request as people say it, for the large published catalogue. */
export interface NaturalRequest {
  readonly query: string
  /** Any of these tools is useful; 'nothing' if the catalogue has no useful tool. */
  readonly useful: readonly ToolPattern[] | 'nothing'
}

/** Matches a tool if all its expressions match. */
export interface ToolPattern {
  readonly name?: RegExp
  /** For the name, description and server, in this order, each on its own line. */
  readonly text?: RegExp
  /** Must match neither the name nor the server. */
  readonly not?: RegExp
}

const webSearch: ToolPattern = {
  name: /web.?search|search.?(the.?)?web|(google|brave|bing|duckduckgo|tavily|searx\w*|internet|exa|perplexity).?search|^search.?(google|internet)/i,
  not: /image|video|local|place|scholar|patent|code|shopping|news|webkr|linkedin|company|crm|wiki|paper|github/i,
}
const news: ToolPattern = {
  name: /news|headline/i,
  text: /top news|latest news|world news|news (articles|stories|headlines)|headlines|google news|news search|live news|\bnews\b.*(topic|country|keyword)/i,
  not: /stock|crypto|hacker|9to5|infoq|geek|verge|ifanr|apple|letter|company|coin|financ|sport|market|ticker|forex|block|bangla|alpha|tech|yahoo|gaming|cyber|netflow|ai.?news|korea|naver|sum$/i,
}
const wikipedia: ToolPattern = {
  name: /search|summar|article|page|wikipedia/i,
  text: /wikipedia/i,
  not: /image|language|section|links|random/i,
}
const createTask: ToolPattern = {
  name: /^(?!.*(comment|tag|label|attach|list$|project|relation|type|depend|subtask|batch)).*(add|create|quick|new).*(task|todo|to.?do|checklist.?item)/i,
  text: /todo|to-do|ticktick|due date|reminder|checklist|marvin|googletasks|shopping|task list/i,
  not: /clickup|jira|azure|divide|shrimp|taskmaster|asana|linear|plane|crm|n8n/i,
}
const createEvent: ToolPattern = {
  name: /(create|add|schedule|quick).?(calendar.?)?(event|appointment)/i,
  text: /calendar|cal\.com/i,
}
const forecast: ToolPattern = {
  name: /weather|forecast/i,
  text: /weather/i,
  not: /portug|ipma|hugoguedes|aviation|space|mars|fire|\bsea|uv_|marine|alert|station|warning|hk|hong|taiwan|korea|japan|aemet|pdf|formula|histor|news|air.?quality|indices|tide|share/i,
}
const dictionary: ToolPattern = {
  name: /defin|dictionary|word.?(detail|info|meaning)|meaning|(lookup|search).?word/i,
  text: /definitions? (for|of) (a |the |given )*word|dictionary.?(mcp|entry)|word information|word meaning|dictionarymcp|cambridge|search for a word/i,
  not: /document|hubspot|role|audience|type.?def|schema|resource.?def|metadata|field/i,
}

/**
 * The patterns were written after reading which tools the catalogue has, and checked against the first results of two searches:
 * this one and plain BM25. A useful tool that no pattern matches counts as useless, so unexpected misses deserve a look.
 */
export const natural: readonly NaturalRequest[] = [
  {
    query: "what's on my calendar tomorrow",
    useful: [
      {
        name: /(list|get|search|find|view|fetch|upcoming|today|check|read).*(event|appointment|agenda|meeting|calendar)|calendar.(list|search|today)/i,
        text: /calendar|agenda|cal\.com|gcal/i,
        not: /list.?calendars|holiday|econom|earning|ipo|astro|github|bazi|chinese|f1|formula|race|dividend|split|oncall|financial|workout|log.?event|festival|free.?busy|slot/i,
      },
    ],
  },
  {
    query: 'remind me to call mom',
    useful: [{ name: /(add|create|set|new|schedule).*remind/i, not: /invoice|school/i }, createTask, createEvent],
  },
  {
    query: 'translate this paragraph to German',
    useful: [
      {
        name: /translat/i,
        text: /translate (the )?(text|content|document)|target language|deepl|between languages|text translation/i,
        not: /bible|quran|liblab|biomart|history|glossar|promql|log|key|youtube|list|languages$|word.?sheet/i,
      },
    ],
  },
  {
    query: 'what did we decide in the last meeting',
    useful: [
      {
        text: /(?=.*(meeting|fireflies|zoom|granola|otter\.ai))(?=.*(transcript|summar|action item|minutes of|recording|meeting note))/is,
        not: /delete|create|update|join|remove|schedule|upload|invite|tldraw|photo|map/i,
      },
    ],
  },
  { query: 'definition of serendipity', useful: [dictionary] },
  { query: "how's the weather in Chicago this weekend", useful: [forecast] },
  { query: 'do I need an umbrella in Boston today', useful: [forecast] },
  {
    query: 'how much is 200 dollars in euros',
    useful: [
      {
        name: /convert|exchange|rate|currenc|forex/i,
        text: /currenc|exchange rate/i,
        not: /crypto|digital|token|coin|histor|supported|list|account|brasil|set_|update|feargreed|occur|company|minute|hour|intraday|weekly|monthly|daily|news/i,
      },
      { name: /^priceConversion$/, text: /fiat currency/ },
    ],
  },
  {
    query: 'what time is it in Tokyo right now',
    useful: [
      {
        name: /^(?!.*(timer|tracking|entry|stamp|series|real.?time|runtime|uptime|update|lifetime)).*(time|clock)/i,
        text: /current.*time|time ?zone|what time/i,
        not: /okta|list|clockify|marvin|national|finance|stock|okx|travel|akshare|observability|sentiment/i,
      },
      { name: /city.?time|world.?clock/i },
    ],
  },
  {
    query: 'how is Tesla doing on the stock market',
    useful: [
      {
        name: /stock|quote|ticker|price|finance|equity/i,
        text: /\bstocks?\b|equit|ticker symbol/i,
        not: /crypto|option|dividend|balance|share|tushare|china|korea|krx|kospi|naver|shop|inventory|product|photo|split|peer|screen|coin|swap|jupiter|news|a_stock|akshare|list|warehouse|zerodha|groww|nse|bist|action|grade|offering|index/i,
      },
    ],
  },
  {
    query: "what's bitcoin at",
    useful: [
      {
        name: /price|quote|ticker|market.?data|exchange.?rate/i,
        text: /bitcoin|\bbtc\b|crypto|coingecko|binance|coinbase|kraken|bybit|okx|coinmarketcap/i,
        not: /bsv|gas|nft|histor|alert|stock|option|peg|solana|ordinal|list|futures|calculate|oscillator|currency.?exchange/i,
      },
    ],
  },
  {
    query: 'I feel like chicken curry tonight, how do I make it',
    useful: [
      {
        name: /recipe|meal|cook/i,
        text: /recipe|cooking|meal/i,
        not: /netlify|arm-mcp|apx|opgg|tft|plan|workout|kits|kupsik|analy/i,
      },
      webSearch,
    ],
  },
  { query: "what's going on in the world today", useful: [news, webSearch] },
  {
    query: 'cheap flights to Barcelona in June',
    useful: [
      { name: /flight/i, text: /search|find|offer|fare|price|cheap/i, not: /status|radar|track|simulat|test|preflight|insight/i },
    ],
  },
  {
    query: 'a place to stay in Lisbon for three nights',
    useful: [
      {
        name: /^(?!.*(detail|more|review|book|facilit|info)).*(hotel|airbnb|stay|accommodation)/i,
        not: /korea|brightdata|web_data/i,
      },
    ],
  },
  {
    query: "where's a good coffee place around here",
    useful: [
      {
        name: /search.?(nearby|places?|poi|business|around|location)|(nearby|places?|poi|local|around|business|keyword|text|point_of_interest|category).?search|find.?(nearby|places|restaurant|business)|place.?recommend|yelp|get.?(nearby|restaurant|pois)|maps.?(text|around)|local.?search/i,
        text: /place|\bpoi\b|yelp|maps|nearby|local business|tripadvisor|restaurant/i,
        not: /station|medical|pizza|tourism|detail|create|linkedin|crm|hdb|bus|emergency|explorium|prospect|immolog|file|node|code|parcel|menu/i,
      },
    ],
  },
  {
    query: 'how do I get from the train station to the museum on foot',
    useful: [
      {
        name: /direction|route|walking|navigation/i,
        text: /walk|directions? between|route between|navigation|directions? (from|search)|turn-by-turn|maps/i,
        not: /minecraft|vrchat|deriv|hkbus|browser|puppet|pyppet|railway|electric|trading|driving|delete|create|router|kakao|naver|optimi|isochrone|bgp|zscaler|validator/i,
      },
    ],
  },
  {
    query: "drop Anna a line that I'll be late",
    useful: [
      {
        name: /send.*(mail|message|sms|text|dm$|direct)|post.?message|push.?text.?message/i,
        text: /mail|whatsapp|slack|telegram|imessage|sms|direct message|zulip|discord|line|messages? to|text message/i,
        not: /bulk|campaign|template|queue|test|session|agent|transaction|clases|claude|gemini|anilist|kick|airdrop|pubnub|webhook|audio|invoice|linkedin|devin|newsletter|kafka|batch|video|location|seen|emails$/i,
      },
    ],
  },
  {
    query: 'did anyone write me about the invoice',
    useful: [
      {
        name: /(search|list|find|read|get|fetch|query|check).*(e?mails?|messages?|inbox|gmail)$/i,
        text: /e-?mail|inbox|gmail|outlook|whatsapp|imessage|apple-mcp|messages containing/i,
        not: /linkedin|smartlead|campaign|mailgun|okta|template|setting|crm|people|by.?email|kafka|pubnub|reddit|invoice|kick|cursor|draft|zscaler|stripe|attio|user|customer|verify|send|hibp|employee/i,
      },
    ],
  },
  {
    query: 'tell the team on Slack that the release is out',
    useful: [{ name: /post|send|reply/i, text: /slack/i, not: /devin|history|list|get|search|alert|keboola/i }],
  },
  {
    query: "I don't have an hour, what is this YouTube video about",
    useful: [
      {
        name: /transcri|summar|caption|subtitle|analy|video.?(info|detail)|about|youtube.query/i,
        text: /youtube/i,
        not: /channel|playlist|list|comment|trend|google-image/i,
      },
    ],
  },
  {
    query: 'put on some jazz',
    useful: [
      {
        name: /play.?(track|music|song|album)|SpotifyPlayback|spotify.?play|search.?and.?play|playMusic|start.?playback|music.?play/i,
        text: /spotify|music|song|sonos/i,
        not: /playlist|pause|current/i,
      },
      { name: /^(spotify.?search|search.?spotify|SpotifySearch|searchSpotify)$/i },
    ],
  },
  {
    query: 'any recent studies on intermittent fasting',
    useful: [
      {
        name: /search|find|query|studies.by/i,
        text: /pubmed|scholar|academic papers|scientific (papers|literature)|research papers|medrxiv|medical literature|europe ?pmc|clinical ?trials/i,
        not: /author|graph|code|patent|area|match|id$|snippet|firecrawl|conference|dataset|repo|wallpaper|arxiv(?!.*med)|huggingface|analysis/i,
      },
      { name: /search.*(medrxiv|pubmed)|pubmed.*search|article.?search/i },
    ],
  },
  { query: 'who was Ada Lovelace', useful: [wikipedia, webSearch] },
  {
    query: 'the login page is broken, file a bug on GitHub',
    useful: [
      {
        name: /create.?issue$|issue.?write|open.?issue|create.?github.?issue/i,
        text: /github/i,
        not: /gitlab|linear|jira|gitee/i,
      },
    ],
  },
  {
    query: 'why did the last build fail',
    useful: [
      {
        name: /log|fail|annotation|build|test/i,
        text: /(?=.*(\blogs?\b|fail|error))(?=.*(\bbuilds?\b|pipeline|\bCI\b|workflow.run|jenkins|circleci|buildkite|bitrise))/is,
        not: /predict|create|delete|cancel|n8n|update|component|railway|trigger|abort|start|xcode|android|rebuild|docker|graph|unity|schema|blog|login|query_?builder|datadog|foundry/i,
      },
    ],
  },
  {
    query: 'what am I supposed to work on in Jira',
    useful: [
      {
        name: /search|issues|my|sprint|jql|assigned|tickets/i,
        text: /jira/i,
        not: /transition|worklog|field|comment|attach|link|user|create|delete|epic|update|type|ingest|confluence|batch|changelog|sprints|portfolio/i,
      },
    ],
  },
  {
    query: 'make a chart out of these numbers',
    useful: [
      {
        name: /(generate|create|draw|render|make|get|build|plot).*(chart|plot|graph|diagram)|chart.*(generat|creat|link|image|render)|visuali[sz]e.*data|echarts/i,
        text: /(bar|line|pie|scatter|quick).?chart|generate.*chart|create.*chart|draw chart|data visuali[sz]ation|chart image|vega|plotly|matplotlib|vizro|quickchart/i,
        not: /stablecoin|pool|account|stock|mermaid|spray|knowledge|organi|trading|code.?graph|panel|strike|mlb|validate|price|flow|uml|solana|hackle|helm|org/i,
      },
    ],
  },
  {
    query: 'draw me a cat on the moon',
    useful: [
      {
        name: /generat\w*.?(\w+.)?(image|picture)|(image|picture).?gen|text.?to.?image|txt2img|create.?image|draw.?(image|picture)|imagine|flux|dall.?e|sdxl/i,
        text: /prompt|text|describe|dall|flux|stable diffusion|imagen/i,
        not: /withdraw|chart|canvas|docker|icon|edit|drawio|svg|alt|figma|variation|influx|status|placeholder|qr|caption|imagine.?status|upscale|video|url.?list|linode|product|html|task|reimagine/i,
      },
      // A canvas on which a model can draw.
      { name: /^drawing_generateCanvas$/ },
    ],
  },
  {
    query: 'I need the text out of this PDF',
    useful: [
      {
        name: /pdf|extract|ocr|to.?markdown|parse|read.?(doc|file)|convert/i,
        text: /\bpdfs?\b|pdf/i,
        not: /create|generate|merge|split|write|to.?pdf|browser|print|save|watermark|invoice|lulu|playwright|html2|export|fill|rotate|arxiv|paper|excel|sec|puppeteer|annot|metadata|download|law|comax/i,
      },
    ],
  },
  {
    query: 'show me what example.com looks like',
    useful: [
      {
        name: /screenshot|capture|snapshot/i,
        text: /\bpage|website|\burl\b|browser|web/i,
        not: /element|desktop|figma|unity|android|database|volume|ios|simulator|device|window|portfolio|linode|vm|stat|journal|memory|game|network|console|disk|lighthouse|get_snapshots/i,
      },
    ],
  },
  {
    query: "what's 17 percent of 2340",
    useful: [
      {
        name: /^(calc|calculate|calculator|calculate_?expression|evaluate(_?expression)?|arithmetic|multiply|mul|math\w*|percentage|eval|compute|calculator\w*|calculate_percentage(_of)?)$/i,
        text: /arithmetic|expression|math|calculat|multipl|percent|numbers/i,
        not: /javascript|page|browser|playwright|puppet|model|matrix|prompt/i,
      },
    ],
  },
  { query: 'cheer me up with a joke', useful: [{ name: /joke|chuck|humou?r/i }] },
  {
    query: 'we are out of milk, put it on the list',
    useful: [createTask, { name: /add|create/i, text: /shopping list|grocer/i }],
  },
  {
    query: 'tweet that we are hiring',
    useful: [
      { name: /(post|create|send|publish).*tweet|^tweet$|twitter.?post|post.?(to.?)?(twitter|x$)/i, not: /reply|delete|get/i },
      { name: /^(create|publish|schedule).?(social.?)?post/i, text: /twitter|social media/i, not: /wordpress|reddit|ghost/i },
    ],
  },
  {
    query: 'what are people on Reddit saying about electric cars',
    useful: [
      {
        name: /search|posts?|comment|hot|thread|reddit/i,
        text: /reddit/i,
        not: /create|reply|write|ingest|user|delete|submit|brightdata|wsb|edit.content|subreddits|send|by_id|engagement/i,
      },
    ],
  },
  {
    query: 'did the Lakers win last night',
    useful: [
      {
        name: /game|score|match|nba|result|team|schedule/i,
        text: /\bnba\b|basketball|sports? (scores?|results?|data)|live scores/i,
        not: /pokemon|mlb|f1|football/i,
      },
      webSearch,
      news,
    ],
  },
  {
    query: 'is the name sunnybakery.com taken',
    useful: [
      {
        name: /domain|whois|avail/i,
        text: /whois|domain.*(availab|registered|registration)|availab.*domain/i,
        not: /zscaler|linode|mailgun|list|macos|okta|virustotal|create|delete|brasil|zms|defaults|ip$|railway|tld|whois_as/i,
      },
    ],
  },
  {
    query: 'has my password been leaked',
    useful: [{ name: /check.?(password|email)|breach/i, text: /pwned|breach|hibp/i, not: /list|explorium/i }],
  },
  { query: 'what do the stars say for Virgo this week', useful: [{ name: /horoscope|zodiac/i }] },
  {
    query: 'nice photos of mountains for my slides',
    useful: [
      {
        name: /(search|find|random|curated).*(photo|image|picture|wallpaper)|(photo|image|picture|wallpaper)s?.?search/i,
        not: /docker|azure|aws|linode|nasa|container|mars|user|reverse|met-|museum|similar|lens|by.?image|hub|registry|memory|face|sky|astro|cat|dog|own/i,
      },
    ],
  },
  { query: 'read me John 3:16', useful: [{ name: /verse|passage|chapter|bible/i, text: /bible/i, not: /list|random|quran/i }] },
  {
    query: 'another word for happy',
    useful: [dictionary, { name: /synonym|thesaurus|similar.?word/i, not: /meili|elastic|algolia|typesense|reset|update/i }],
  },
  {
    query: 'how many people live in Japan',
    useful: [
      {
        name: /country|population|world.?bank/i,
        text: /population|world bank|country information/i,
        not: /unhcr|refugee|evolution|mailgun|paystack|phone|holiday|waha|news|code/i,
      },
      wikipedia,
      webSearch,
    ],
  },
  {
    query: 'make me a QR code for our wifi',
    useful: [{ name: /qr/i, text: /generat|create/i, not: /invoice|whatsapp|totp|waha|pairing|wapulse|sqr|auth/i }],
  },
  {
    query: 'this link is too long',
    useful: [
      { name: /shorten|short.?(url|link)/i, text: /url|link/i },
      { name: /create.?link/i, text: /dub\.co|short/i },
    ],
  },
  {
    query: 'write this down before I forget it',
    useful: [
      {
        name: /^(?!.*(footnote|endnote|notebook|keynote|release|speaker|snapshot|denote)).*(create|add|write|save|new|append|take|store).*(note|memo|journal|diary|thought)/i,
        not: /crm|contact|deal|ticket|task|issue|hubspot|customer|device|patient|candidate|attio|annot|css|vectra|zotero|servicenow|anki|porting|python-to|gitlab|work_notes|stripe|sequential|think|ppt|docx|incident|case|merge|lead|sticky|tag|clay|bank|palac|CWM|comment|zendesk|piperun/i,
      },
      { name: /^remember|memorize|jot/i },
    ],
  },
  {
    query: 'how many customers signed up last month, look in our database',
    useful: [
      {
        name: /^(?!.*(plan|perf|valid|saved|result|export|translate|flow|stats|log|explain|cost|optimi|history|transaction|vector|create|insert|update|delete|write|alter|graph|script)).*(query|sql|select)/i,
        text: /\bsql\b|mysql|postgres|database/i,
        not: /superset|ntop|victoria|notion|sentry|dns|graphql|jq|cypher|n8n|instance|airtable|firestore|mongodb|blockchain|dune|airflow|credential|neo4j|pg_manage/i,
      },
    ],
  },
  {
    query: "I'm looking for work as a data engineer in Berlin",
    useful: [
      {
        name: /search.*jobs?|jobs?.*search|find.*jobs?|job.?listing|active_jobs/i,
        text: /job (listing|search|post|opening|api)|jobs? (for|on|with)|vacanc|linkedin|career|stepstone|reed|hirebase/i,
        not: /pipeline|jenkins|kubernetes|slurm|count|research|brightdata|detail/i,
      },
    ],
  },
  {
    query: 'what movie should we watch tonight',
    useful: [
      {
        name: /recommend|discover|trending|popular|movies?|suggest|top.?rated/i,
        text: /movies?|films?|tv shows?/i,
        not: /detail|cast|review|rating|delete|add|youtube|overseerr|request|radarr|play|video|book|anime|music|product|twitter|reddit|stock|marketing|download|genres|status/i,
      },
    ],
  },
  {
    query: 'which anime is good this season',
    useful: [
      {
        name: /season|ranking|top|suggest|search.?anime|recommend|^get_anime$|trending/i,
        text: /\banime\b/i,
        not: /wallpaper|youtube|manga/i,
      },
    ],
  },
  { query: 'how did I sleep', useful: [{ name: /sleep/i, text: /oura|fitbit|whoop|garmin|sleep data|health/i }] },
  {
    query: "I'm starving, get me a pizza",
    useful: [{ name: /order|store|menu/i, text: /pizza|domino/i, not: /remove|state|stagehand|browser/i }],
  },
  { query: 'let us play a game of chess', useful: [{ name: /new.?game|move|board|start|play/i, text: /chess/i }] },
  {
    query: 'how many calories are in an avocado',
    useful: [
      { name: /food|nutri|fruit/i, text: /nutri|calorie/i, not: /burn|activit|log|exercise|tracker|compare|restriction|store/i },
      webSearch,
    ],
  },
  { query: 'water the plants while I am away', useful: 'nothing' },
  { query: 'what should I wear to the wedding', useful: 'nothing' },
  { query: 'where did I leave my keys', useful: 'nothing' },
  { query: 'my passport expires in May, renew it', useful: 'nothing' },
  { query: 'the washing machine is leaking, get a plumber', useful: 'nothing' },
]
