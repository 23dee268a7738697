import type { ElicitationHandler } from '@unfold-mcp/client'
import { parseToolArguments } from '../arguments/parse.ts'
import { usageError } from '../base/exit.ts'
import type { Io } from '../base/io.ts'

/** Answers elicitations from `--answer`, then from prompts; undefined if neither is possible. */
export function elicitationHandler(io: Io, answers: readonly string[], canPrompt: boolean): ElicitationHandler | undefined {
  if (answers.length === 0 && !canPrompt) return undefined
  for (const answer of answers) if (!/^[^=]+=/u.test(answer)) throw usageError(`--answer must be name=value, not "${answer}".`)
  return async (question, signal) => {
    if (question.mode === 'form' && answers.length > 0) {
      const form = { name: 'answers', inputSchema: { ...question.schema, type: 'object' as const } }
      const nothing = async (): Promise<string> => ''
      const { args, problems } = await parseToolArguments(form, answers, { readFile: nothing, readStdin: nothing })
      if (problems.length === 0)
        return { action: 'accept', content: args as Record<string, string | number | boolean | string[]> }
    }
    if (!canPrompt) return { action: 'decline' }
    const { askElicitation } = await import('../interactive/elicitation.ts')
    return askElicitation(question, signal, io)
  }
}
