import { printable } from '@unfold-mcp/core'
import { shorten } from '../base/visible-text.ts'

const checked = 'Unless you expected this, leave the tool out with "deny", or take the server out of the file.'

/** What may look suspicious in a text of a server, with what to do about it. */
const rules = {
  overriding: { about: 'tells the model to ignore its instructions', advice: checked },
  secrecy: { about: 'tells the model to keep something from the user', advice: checked },
  posing: { about: 'poses as a message of the system', advice: checked },
  secrets: {
    about: 'asks for secrets, or for the whole conversation',
    advice: `Change passwords and keys that may have been read. ${checked}`,
  },
  hidden: { about: 'holds characters that nobody sees', advice: `Clients get texts without such characters. ${checked}` },
  payload: { about: 'holds a command for a shell', advice: checked },
  shadowing: { about: 'says how a tool of another server is to be used', advice: checked },
  clone: {
    about: 'is described like a tool of another server',
    advice: 'One of them may stand in for the other. Keep the one that you trust: leave the other out with "deny".',
  },
  unread: { about: 'is more text than is checked', advice: 'Take fewer of its tools, with "allow".' },
} as const

export type Rule = keyof typeof rules

/** Something in the texts of a server that could be meant to deceive a model. Nothing is blocked because of it. */
export interface Finding {
  /** The server's own name for the tool, safe to show; left out for what belongs to no tool. */
  readonly tool?: string
  /** Where it stands, such as `inputSchema.properties.path.description`. */
  readonly surface: string
  readonly rule: Rule
  /** What it is in words, after "It". */
  readonly about: string
  /** The words in question, safe to show, at most 120 characters. */
  readonly excerpt: string
  readonly advice: string
}

const maxExcerptLength = 120

/** The finding that a rule has of some words. */
export function findingOf(
  rule: Rule,
  at: { readonly surface: string; readonly excerpt: string; readonly about?: string },
): Finding {
  const { about, advice } = rules[rule]
  return { surface: at.surface, rule, about: at.about ?? about, excerpt: shortened(at.excerpt), advice }
}

/** What is escaped takes more room than it had. */
function shortened(text: string): string {
  const shown = printable(shorten(text, maxExcerptLength), maxExcerptLength)
  return shown.length <= maxExcerptLength ? shown : `${shown.slice(0, maxExcerptLength - 1)}…`
}
