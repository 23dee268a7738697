import { createHash, hash } from 'node:crypto'
import { identityOf, type Sha256, type Tool, ToolSetIdentity } from '@unfold-mcp/core'
import { defineToolbox } from '@unfold-mcp/server'
import { testContext } from '@unfold-mcp/server/testing'
import { inRounds, type Pace, type Timing } from '../list/rounds.ts'
import { referenceSize, toolsOf } from '../list/tools.ts'

export const identityNames = {
  floor: 'JSON.stringify and SHA-256',
  all: 'identity of fresh tools',
  one: 'identity after one changed',
}

const sha256: Sha256 = (data) => Buffer.from(hash('sha256', data, 'hex'), 'hex')

/** Measures computing the identity of 1,000 new tools, and after one of them changed. */
export async function timeIdentity(pace: Pace): Promise<readonly Timing[]> {
  const text = JSON.stringify(await definitions())
  let tools: readonly Tool[] = []
  // Digests are cached per tool object, so each run needs new objects.
  const prepare = (): void => {
    tools = JSON.parse(text) as readonly Tool[]
  }
  const set = new ToolSetIdentity(sha256)
  for (const tool of JSON.parse(text) as readonly Tool[]) set.set(tool)
  let changes = 0
  return inRounds(
    [
      { name: identityNames.floor, prepare, run: () => createHash('sha256').update(JSON.stringify(tools)).digest('hex') },
      { name: identityNames.all, prepare, run: () => identityOf(tools, sha256) },
      {
        name: identityNames.one,
        prepare() {
          if (tools.length === 0) prepare()
          changes++
        },
        run() {
          const tool = tools[changes % referenceSize] as Tool
          set.set({ ...tool, description: `${tool.description ?? ''} ${changes}` })
          return set.value
        },
      },
    ],
    pace,
  )
}

/** Returns the tools as a server lists them. */
async function definitions(): Promise<readonly Tool[]> {
  const toolbox = defineToolbox({ name: 'thousand', version: '1.0.0' })
  for (const { name, description, input } of toolsOf(referenceSize))
    toolbox.tool(name, { description, inputSchema: input }, () => '')
  await using client = await testContext(toolbox)
  return client.tools()
}
