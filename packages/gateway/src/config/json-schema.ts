import * as z from 'zod'
import { configSchema } from './schema.ts'

/** The schema of `unfold.json` for editors; `unfold.schema.json` is this, written out. */
export function configJsonSchema(): { readonly [keyword: string]: unknown } {
  const schema = z.toJSONSchema(configSchema, { io: 'input', target: 'draft-7' })
  return { ...schema, title: 'unfold.json', allowComments: true, allowTrailingCommas: true }
}
