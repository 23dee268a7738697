/** True for a lower-case word without meaning for a search: "please could you help me". */
export const isStopWord = (word: string): boolean => stopWords.has(word)

const articles =
  'a an the this that these those it its there here such same other another each every any some all both either neither'
const persons =
  'i me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers they them their theirs who whom whose one ones someone anyone everyone somebody anybody everybody something anything everything nothing'
const verbs =
  'am is are was were be been being isn aren wasn weren do does did doing done don doesn didn have has had having haven hasn hadn can could may might must shall should will would cannot couldn shouldn won wouldn ll ve re let lets'
const links =
  'and or but nor so if then else than because as while although though however whether when where why how what which until unless since of in on at by for from to into onto upon with within without about against between among through during before after above below over under again further across along around behind beyond near per via toward towards out off up down not no only own too very just also even still already yet ever never once now much many more most less least few several lot lots quite rather really maybe perhaps'
const requests =
  'please kindly thank thanks hello hi hey dear help helps helped helping assist assistance want wants wanted wanting need needs needed needing like likes liked would love wish hope hoping try trying tried able possible possibly currently wonder wondering interested looking look regarding related concerning able going gonna know tell give provide share let ask asking asked use using used user users request requesting ensure sure make makes making etc e.g i.e eg ie example following based given different various certain specific specified particular provided'
const marks = 'm s t d'
const chinese =
  '的 了 和 是 在 我 你 他 她 它 我们 你们 请 帮 帮我 帮助 一个 一下 一些 这 那 这个 那个 想 要 想要 需要 可以 能 能够 吗 呢 吧 与 或 及 以及 并 并且 然后 把 将 被 给 对 从 到 用 使用 为 为了 也 都 就 还 有 没有 什么 怎么 如何 哪些 哪个 关于 进行'
const japanese =
  'の に は を が と で も へ や から まで より です ます する した して ください こと これ それ この その ある いる'
const thai = 'ที่ และ ของ ใน เป็น ได้ ให้ มี จะ ไป มา นี้ นั้น กับ หรือ แต่ โดย ฉัน ผม คุณ ช่วย กรุณา ต้องการ อยาก'

const stopWords: ReadonlySet<string> = new Set(
  [articles, persons, verbs, links, requests, marks, chinese, japanese, thai].flatMap((words) => words.split(' ')),
)
