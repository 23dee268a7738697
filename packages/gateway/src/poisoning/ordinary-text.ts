/**
 * True for most texts: letters and punctuation of common scripts, without control characters, marks that combine with letters,
 * emoji and characters for private use. Saves slower checks.
 */
export const isOrdinary = (text: string): boolean => ordinary.test(text)

const ordinary =
  /^[\t\n\r -~\xa1-\xac\xae-\u02ff\u0370-\u0482\u048a-\u0559\u0620-\u064a\u2010-\u2027\u2030-\u205e\u3001-\u3029\u3030-\u3098\u309b-\u9fff\uac00-\ud7a3\uff01-\uff9d]*$/
