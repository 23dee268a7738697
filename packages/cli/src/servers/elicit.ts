import type { Elicit } from '@unfold-mcp/client'
import { parseToolArguments } from '../arguments/parse.ts'
import { usageError } from '../base/exit.ts'
import type { Io } from '../base/io.ts'

/** Answers elicitations from `--answer`, then from prompts; undefined if neither is possible. */
export function elicitationHandler(io: Io, answers: readonly string[], asks: boolean): Elicit | undefined {
  if (answers.length === 0 && !asks) return undefined
  const words = answers.map((answer) => {
    if (!/^[^=]+=/u.test(answer)) throw usageError(`--answer wants name=value, not "${answer}".`)
    return answer
  })
  return async (question, signal) => {
    if (question.mode === 'form' && words.length > 0) {
      const form = { name: 'answers', inputSchema: { ...question.schema, type: 'object' as const } }
      const nothing = async (): Promise<string> => ''
      const { args, problems } = await parseToolArguments(form, words, { readFile: nothing, readStdin: nothing })
      if (problems.length === 0)
        return { action: 'accept', content: args as Record<string, string | number | boolean | string[]> }
    }
    if (!asks) return { action: 'decline' }
    const { askElicitation } = await import('../interactive/elicitation.ts')
    return askElicitation(question, signal, io)
  }
}
