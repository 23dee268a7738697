import { stem } from './stemmer.ts'

/** Terms that a tool may use where a query says `term`: words for the same thing, and the kind of thing it is. */
export function synonymsOf(term: string): readonly string[] {
  // Made when it is first needed: a program that never searches starts sooner.
  table ??= tableOf([...actions, ...things])
  return table.get(term) ?? []
}

/** The words that people use where a tool says `word`, as they are written; none for a word without synonyms. */
export function relatedWords(word: string): readonly string[] {
  relatedWordsTable ??= relatedTable([...actions, ...things])
  return relatedWordsTable.get(stem(word)) ?? []
}

const actions = [
  'create add insert new register open',
  'create generate make produce build compose',
  'delete remove erase drop clear destroy purge discard',
  'update edit modify change alter revise adjust set',
  'get fetch retrieve read obtain load view show display',
  'find search lookup query discover locate browse explore seek',
  'list enumerate show browse',
  'send deliver post transmit dispatch forward mail',
  'start launch run execute begin trigger invoke',
  'stop cancel end terminate halt abort kill close quit',
  'pause suspend hold',
  'book reserve reservation schedule',
  'buy purchase order shop acquire',
  'sell trade sale',
  'pay charge bill checkout transaction',
  'convert transform exchange change',
  'translate interpret language',
  'calculate compute evaluate estimate determine solve math mathematics',
  'compare contrast difference versus diff',
  'analyze examine inspect evaluate assess study review investigate',
  'check verify validate test confirm',
  'monitor track watch observe follow',
  'upload attach import',
  'download export fetch',
  'save store keep write persist record',
  'copy duplicate clone replicate',
  'move transfer relocate migrate',
  'merge combine join concatenate',
  'split divide separate cut',
  'sort order rank arrange',
  'filter select narrow',
  'summarize shorten condense digest abstract brief overview',
  'recommend suggest advise propose advice tip idea inspiration',
  'plan schedule organize arrange itinerary',
  'remind reminder alert notify alarm',
  'share publish post',
  'login authenticate signin auth',
  'allow permit grant authorize enable',
  'deny block ban forbid disable',
  'install setup configure deploy',
  'fix repair debug troubleshoot correct',
  'explain describe define meaning definition clarify interpret',
  'count number total amount quantity',
  'draw paint sketch illustrate design',
  'write compose draft',
  'talk chat converse conversation speak dialogue',
  'call phone dial telephone',
  'predict forecast project estimate',
  'assign allocate',
  'approve accept confirm',
  'reject decline deny refuse',
  'restore recover undo revert rollback',
  'compress zip archive',
  'archive backup',
  'extract parse scrape crawl',
  'click press tap',
  'navigate visit browse',
  'capture screenshot snapshot',
  'improve enhance optimize boost',
  'rewrite rephrase paraphrase',
  'measure weigh',
  'reply respond answer',
  'rent lease hire',
  'turn switch toggle',
  'attend join participate',
  'manage administer control handle',
  'rename update edit',
  'replace substitute swap',
  'append add extend',
  'submit send',
  'connect link join attach',
  'scan detect recognize identify',
  'refresh reload sync synchronize',
  'render draw display',
  'crop trim cut',
  'remember recall memory memorize',
  'donate charity donation',
  'advertise advertisement marketing campaign ad promote',
  'complete finish done close',
]

const things = [
  'weather forecast temperature climate rain snow wind humidity',
  'movie film cinema',
  'tv television series episode',
  'music song track album audio artist singer playlist',
  'song lyric',
  'photo picture image photograph',
  'video clip footage',
  'game gaming player',
  'sport match team league football soccer basketball tennis',
  'news headline article press',
  'novel literature author book',
  'recipe cook dish meal ingredient food cuisine',
  'restaurant dining eat dinner lunch breakfast meal food cafe',
  'nutrition calorie diet healthy food',
  'drink beverage cocktail wine beer coffee',
  'hotel accommodation lodging room stay hostel',
  'flight airline plane airport fly airfare',
  'train railway rail',
  'car vehicle automobile auto',
  'bus transit transport transportation',
  'trip travel vacation holiday tour journey tourism tourist itinerary',
  'place location venue spot',
  'attraction landmark sightseeing museum',
  'map direction route navigation',
  'address location coordinate',
  'city town',
  'country nation',
  'money currency cash dollar euro',
  'finance financial investment invest fund portfolio',
  'stock share equity ticker',
  'crypto cryptocurrency bitcoin blockchain coin token',
  'bank account balance',
  'loan mortgage credit debt',
  'invoice bill receipt',
  'price cost fee rate expense',
  'discount coupon deal offer promotion promo bargain',
  'product item goods merchandise',
  'shop store retailer mall',
  'customer client',
  'member account profile',
  'employee staff worker personnel',
  'company business firm enterprise organization corporation',
  'job career employment vacancy position occupation hire',
  'resume cv',
  'house home property apartment estate real residence',
  'doctor physician hospital clinic medical health',
  'disease illness symptom sick',
  'medicine drug medication prescription',
  'exercise workout fitness gym',
  'email mail inbox',
  'message sms text chat',
  'calendar event meeting appointment',
  'task todo chore',
  'issue bug ticket defect',
  'note memo',
  'document doc file pdf',
  'file folder directory path',
  'text content string',
  'spreadsheet excel sheet',
  'slide presentation powerpoint deck',
  'chart graph plot diagram visualize',
  'database table sql',
  'code program script software programming',
  'repository repo',
  'website webpage site page web url link',
  'internet web online',
  'server host machine',
  'log history',
  'error exception failure',
  'password credential secret',
  'law legal lawyer attorney',
  'school university college education',
  'course lesson class learn study tutorial training education',
  'student pupil',
  'teacher instructor tutor',
  'question quiz trivia',
  'paper research publication scholar academic scientific',
  'joke humor funny',
  'animal pet',
  'plant flower garden',
  'date day',
  'size dimension',
  'concert festival event show',
  'gift present',
  'kid child',
  'review rating feedback comment opinion',
  'statistics stats metric analytics',
  'report summary',
  'word vocabulary dictionary',
  'speech voice audio',
  'ship shipping delivery shipment parcel package',
  'inventory stock warehouse',
  'sentiment emotion mood',
  'horoscope astrology zodiac',
  'podcast radio broadcast',
  'space astronomy planet star',
  'clothes clothing fashion outfit',
  'wallet balance',
  'symbol ticker',
  'picture art artwork painting drawing',
  'name title',
  'id identifier',
  'type kind category',
  'latest recent current',
  'top best popular trending',
  'random arbitrary',
  'nearby near local',
  'information detail info',
  'status state progress condition',
  'tag label',
  'configuration config setting preference option',
  'permission role access privilege',
  'command shell terminal cli',
  'app application',
  'finance financial economy economic market',
  'time clock hour minute',
  'history past previous historical',
  'future upcoming next',
  'warning alert',
  'device gadget hardware',
  'library package dependency module',
  'community forum discussion thread',
  'security vulnerability threat risk',
  'network internet connection',
  'form survey questionnaire',
  'budget expense spending',
  'cheap affordable budget',
  'guide tutorial manual instruction documentation docs',
  'storage disk drive',
  'screen window display',
  'birthday birth age',
  'distance far length',
  'speed fast velocity',
  'famous popular celebrity',
  'trend trending popular',
  'brand logo',
  'subtitle caption transcript',
  'government politics politician election congress',
  'pollution air quality',
  'contract agreement',
  'person people contact',
  'skill ability',
]

/** People name an instance ("yen"), tools the kind ("currency"); the kind does not ask for the instance. */
const kinds: { readonly [kind: string]: string } = {
  'currency money exchange': 'usd eur gbp jpy cny inr aud cad chf dollar euro pound yen yuan rmb rupee franc peso won',
  'language translate':
    'english french spanish german italian portuguese chinese mandarin japanese korean arabic russian hindi dutch turkish polish',
  food: 'pizza burger sushi pasta salad soup sandwich steak chicken beef pork salmon rice bread cheese egg tomato potato cake dessert chocolate fruit apple banana vegetable vegan vegetarian breakfast lunch dinner snack',
  sport: 'football soccer basketball baseball tennis golf cricket hockey rugby nba nfl olympics',
  animal: 'dog cat bird horse puppy kitten lion tiger elephant',
  'city location':
    'paris london tokyo york rome berlin madrid barcelona beijing shanghai sydney dubai singapore chicago boston seattle toronto francisco angeles amsterdam vienna mumbai delhi',
  country:
    'france germany italy spain china japan india canada australia brazil mexico usa america england uk korea russia egypt',
  date: 'january february march april june july august september october november december monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday tonight',
  music: 'guitar piano violin drum jazz pop rap band orchestra concert',
  'product electronic': 'iphone laptop smartphone tablet headphone camera computer keyboard monitor',
  'clothing fashion': 'shirt shoe dress jacket jeans sneaker coat hat',
  vehicle: 'truck motorcycle suv sedan',
  'medical health': 'cancer diabetes flu covid headache fever cough pain allergy asthma',
  math: 'sum multiply divide minus plus equation algebra integral derivative triangle square root prime factorial matrix geometry',
  'code program': 'python javascript typescript java rust golang php ruby swift react',
  image: 'png jpg jpeg gif svg webp',
  audio: 'mp3 wav flac',
  video: 'mp4 avi mov mkv',
  document: 'docx doc pdf md txt',
  spreadsheet: 'xlsx xls csv',
  presentation: 'pptx ppt',
  web: 'html css http https www',
  unit: 'km kilometer mile meter inch kg gram celsius fahrenheit liter gallon',
  color: 'red blue green yellow purple orange pink black white',
  weather: 'sunny cloudy rainy storm umbrella hurricane typhoon',
  email: 'gmail outlook',
  'horoscope zodiac astrology': 'aries taurus leo virgo libra scorpio sagittarius capricorn aquarius pisces',
  'bible scripture':
    'genesis exodus leviticus deuteronomy psalm psalms proverbs isaiah jeremiah ezekiel matthew luke romans corinthians galatians ephesians philippians hebrews',
  quran: 'surah ayah',
  'basketball nba':
    'lakers celtics warriors knicks spurs raptors mavericks clippers cavaliers timberwolves pelicans grizzlies bucks pistons hornets',
  'football nfl': 'cowboys steelers patriots packers seahawks broncos raiders chiefs eagles ravens vikings',
  'baseball mlb': 'yankees dodgers mets astros phillies cubs padres orioles mariners',
  'hockey nhl': 'bruins canadiens penguins oilers canucks flyers',
  'soccer football': 'arsenal chelsea liverpool juventus bayern tottenham everton ajax dortmund bundesliga laliga uefa fifa',
}

let table: ReadonlyMap<string, readonly string[]> | undefined

let relatedWordsTable: ReadonlyMap<string, readonly string[]> | undefined

function relatedTable(groups: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>()
  for (const group of groups) {
    const words = group.split(' ')
    for (const word of words) {
      const others = found.get(stem(word)) ?? new Set()
      for (const other of words) if (stem(other) !== stem(word)) others.add(other)
      found.set(stem(word), others)
    }
  }
  return new Map([...found].map(([term, others]) => [term, [...others]]))
}

function tableOf(groups: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const sets = new Map<string, Set<string>>()
  const relate = (term: string, others: readonly string[]): void => {
    const related = sets.get(term) ?? new Set()
    for (const other of others) if (other !== term) related.add(other)
    sets.set(term, related)
  }
  for (const group of groups) {
    const terms = group.split(' ').map(stem)
    for (const term of terms) relate(term, terms)
  }
  for (const [kind, instances] of Object.entries(kinds)) {
    for (const instance of instances.split(' ')) relate(stem(instance), kind.split(' ').map(stem))
  }
  return new Map([...sets].map(([term, related]) => [term, [...related]]))
}
