import { acceptedContent, completable, inputRequired, ResourceTemplate } from '@modelcontextprotocol/server'
import { defineToolbox } from '@unfold-mcp/server'
import { expect } from 'vitest'
import { z } from 'zod'
import { automationHub } from '../fixtures/automation-hub.ts'
import { textOf } from '../replies.ts'
import { verifies } from '../verifies.ts'

const info = { name: 'hub', version: '1.0.0' }
const languages = ['typescript', 'rust', 'ruby']

const hub = () =>
  defineToolbox({ ...info, groups: { files: { description: 'Files' } } })
    .tool('read_file', { group: 'files' }, () => 'contents')
    .extend((mcp) => {
      const argsSchema = z.object({
        language: completable(z.string(), (typed) => languages.filter((each) => each.startsWith(typed))),
      })
      mcp.registerPrompt('review', { description: 'Review code', argsSchema }, ({ language }) => ({
        messages: [{ role: 'user', content: { type: 'text', text: `Review this ${language}` } }],
      }))
      mcp.registerResource('readme', 'docs://readme', { title: 'Read me' }, (uri) => ({
        contents: [{ uri: uri.href, text: 'Read me first' }],
      }))
      const template = new ResourceTemplate('docs://{page}', { list: undefined })
      mcp.registerResource('page', template, {}, (uri, { page }) => ({
        contents: [{ uri: uri.href, text: `Page ${String(page)}` }],
      }))
    })

verifies('R08-7', async ({ connect }) => {
  const connection = await connect(hub())
  const { client } = connection
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['review'])
  const { messages } = await client.getPrompt({ name: 'review', arguments: { language: 'rust' } })
  expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Review this rust' } }])
  expect((await connection.toolNames()).length).toBeGreaterThan(0)
})

verifies('R08-8', async ({ connect }) => {
  const { client } = await connect(hub())
  expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['docs://readme'])
  expect((await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    'docs://{page}',
  ])
  for (const [uri, text] of [
    ['docs://readme', 'Read me first'],
    ['docs://setup', 'Page setup'],
  ] as const)
    expect((await client.readResource({ uri })).contents).toEqual([{ uri, text }])
})

verifies('R08-9', async ({ connect }) => {
  const { client } = await connect(hub())
  const { completion } = await client.complete({
    ref: { type: 'ref/prompt', name: 'review' },
    argument: { name: 'language', value: 'ru' },
  })
  expect(completion.values).toEqual(['rust', 'ruby'])
})

verifies('R08-10', async ({ connect }) => {
  const named = z.object({ name: z.string() })
  const toolbox = defineToolbox(info).tool('greet', {}, (_, { inputResponses }) => {
    const answer = acceptedContent(inputResponses, 'name', named)
    if (answer !== undefined) return `Hello, ${answer.name}`
    return inputRequired({ inputRequests: { name: inputRequired.elicit({ message: 'Who are you?', requestedSchema: named }) } })
  })
  const connection = await connect(toolbox)
  const questions: string[] = []
  connection.client.setRequestHandler('elicitation/create', ({ params }) => {
    questions.push(params.message)
    return { action: 'accept', content: { name: 'Ann' } }
  })
  expect(textOf(await connection.call('greet'))).toBe('Hello, Ann')
  expect(questions).toEqual(['Who are you?'])
})

verifies('R20-2', automationHub, async ({ connect, served }) => {
  const { client } = await connect(served)
  const instructions = client.getInstructions() ?? ''
  expect(instructions).toContain('Multi-purpose automation hub.')
  for (const group of ['file_ops', 'network', 'database']) expect(instructions).toContain(`- ${group} (activate_${group}): `)
})

verifies('R20-3', automationHub, async ({ connect, served }) => {
  const { client } = await connect(served)
  const instructions = client.getInstructions() ?? ''
  for (const group of ['file_ops', 'network', 'database']) expect(instructions).toContain(`- ${group}: `)
  expect(instructions).not.toContain('activate_')
})

verifies('R20-4', async ({ connect }) => {
  const groups = { files: { description: 'Files' } }
  const { client } = await connect(defineToolbox({ ...info, groups, description: 'A hub', instructions: 'Ask Ann.' }))
  expect(client.getInstructions()).toBe('Ask Ann.')
})
