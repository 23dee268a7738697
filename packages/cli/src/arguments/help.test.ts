import type { JsonSchema, Tool } from '@unfold-mcp/core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createStyle } from '../text/style.ts'
import { widthOf } from '../text/width.ts'
import { helpText } from './help.ts'
import { parseToolArguments } from './parse.ts'
import { exampleArguments } from './sample.ts'

const createIssue: Tool = {
  name: 'create_issue',
  description: 'Open an issue in a repository.\n\nThe title should be short; its readers may have many of them to look through.',
  annotations: { destructiveHint: true },
  inputSchema: {
    type: 'object',
    properties: {
      body: { type: 'string', description: 'What happened, in Markdown', maxLength: 65_536 },
      repo: { type: 'string', description: 'Where, as owner/name', pattern: '^[^/]+/[^/]+$' },
      title: { type: 'string', minLength: 1, maxLength: 256 },
      labels: { type: 'array', items: { type: 'string' }, description: 'Labels to put on it', maxItems: 10 },
      state: { enum: ['open', 'closed'], default: 'open', description: 'Its state' },
      priority: {
        oneOf: [
          { const: 1, title: 'Now' },
          { const: 2, title: 'Later' },
        ],
      },
      draft: { type: 'boolean', description: 'Do not notify anyone yet.' },
      assignee: {
        type: 'object',
        properties: { login: { type: 'string' }, email: { type: ['string', 'null'], format: 'email' } },
        required: ['login'],
      },
      due: { anyOf: [{ type: 'string', format: 'date' }, { type: 'integer' }], description: 'When' },
      env: { type: 'object', additionalProperties: { type: 'string' }, description: 'Variables' },
      json: { type: 'boolean', description: 'A name of ours' },
      token: { type: 'string' },
      'odd name': {},
      zone: { enum: Array.from({ length: 30 }, (_, index) => `Zone/Number-${index}`) },
    },
    required: ['repo', 'title'],
  },
}

const command = 'unfold call github'

describe('the help of a tool', () => {
  test('is derived from the schema', () => {
    expect(helpText(createIssue, { command, width: 100 })).toMatchInlineSnapshot(`
      "Open an issue in a repository.

      The title should be short; its readers may have many of them to look through.

      Destructive: may modify or delete data.

      Usage: unfold call github create_issue --repo <text> --title <text> [options]

      Required:
        --repo <text>   Where, as owner/name. Matching ^[^/]+/[^/]+$.
        --title <text>  1 to 256 characters.

      Options:
        --body <text>             What happened, in Markdown. At most 65536 characters.
        --labels <text>           Labels to put on it. At most 10 values. Repeatable.
        --state <open|closed>     Its state. Default: open.
        --priority <1|2>          One of 1 (Now), 2 (Later).
        --[no-]draft              Do not notify anyone yet.
        --assignee.login <text>   Required with --assignee.
        --assignee.email <email>  Nullable.
        --due <date|integer>      When.
        --arg:env.<name> <text>   Variables.
        --arg:json                A name of ours.
        --token <text>            Secret: use --args - to keep it out of the process list.
        '--arg:odd name' <any>
        --zone <choice>           One of Zone/Number-0, Zone/Number-1, Zone/Number-2, Zone/Number-3,
                                  Zone/Number-4, Zone/Number-5, Zone/Number-6, Zone/Number-7,
                                  Zone/Number-8, Zone/Number-9, Zone/Number-10, Zone/Number-11 and 18
                                  more.

      Examples:
        unfold call github create_issue --repo abc/def --title text
        unfold call github create_issue --body text --repo abc/def --title text --labels text --state open

      Arguments can also be written name=value or name:=json, or as JSON: --args '{…}', --args @file,
      --args - for standard input. Names that conflict with global flags are written --arg:<name>."
    `)
  })

  test('fits a narrow terminal', () => {
    expect(helpText(createIssue, { command, width: 50 })).toMatchInlineSnapshot(`
      "Open an issue in a repository.

      The title should be short; its readers may have
      many of them to look through.

      Destructive: may modify or delete data.

      Usage: unfold call github create_issue --repo <text> --title <text> [options]

      Required:
        --repo <text>   Where, as owner/name. Matching
                        ^[^/]+/[^/]+$.
        --title <text>  1 to 256 characters.

      Options:
        --body <text>            What happened, in
                                 Markdown. At most 65536
                                 characters.
        --labels <text>          Labels to put on it. At
                                 most 10 values.
                                 Repeatable.
        --state <open|closed>    Its state. Default:
                                 open.
        --priority <1|2>         One of 1 (Now), 2
                                 (Later).
        --[no-]draft             Do not notify anyone
                                 yet.
        --assignee.login <text>  Required with
                                 --assignee.
        --assignee.email <email>
                                 Nullable.
        --due <date|integer>     When.
        --arg:env.<name> <text>  Variables.
        --arg:json               A name of ours.
        --token <text>           Secret: use --args - to
                                 keep it out of the
                                 process list.
        '--arg:odd name' <any>
        --zone <choice>          One of Zone/Number-0,
                                 Zone/Number-1,
                                 Zone/Number-2,
                                 Zone/Number-3,
                                 Zone/Number-4,
                                 Zone/Number-5,
                                 Zone/Number-6,
                                 Zone/Number-7,
                                 Zone/Number-8,
                                 Zone/Number-9,
                                 Zone/Number-10,
                                 Zone/Number-11 and 18
                                 more.

      Examples:
        unfold call github create_issue --repo abc/def --title text
        unfold call github create_issue --body text --repo abc/def --title text --labels text --state open

      Arguments can also be written name=value or
      name:=json, or as JSON: --args '{…}', --args
      @file, --args - for standard input. Names that
      conflict with global flags are written
      --arg:<name>."
    `)
  })

  test('is short for a tool without parameters', () => {
    expect(helpText({ name: 'ping', inputSchema: { type: 'object' } }, { command: 'unfold call x' })).toBe(
      'ping\n\nUsage: unfold call x ping\n\nExample:\n  unfold call x ping',
    )
  })

  test('highlights headings if colours are enabled', () => {
    const style = createStyle({ env: {}, isTerminal: true })
    expect(helpText(createIssue, { command, style })).toContain('\u001b[1mRequired:\u001b[22m\n')
  })

  test('is limited to the first parameters, with the number of others', () => {
    const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`p${index}`, { type: 'string' }]))
    const help = helpText({ name: 'wide', inputSchema: { type: 'object', properties } }, { command: 'x', limit: 5 })
    expect(help).toContain('--p4 <text>\n  … and 19995 more\n')
  })

  test('is safe for a terminal', () => {
    const evil = '\u001b]0;owned\u0007\u202e\u009b2J\u200b'
    const tool: Tool = {
      name: `t${evil}`,
      description: `d\r${evil}`,
      inputSchema: {
        type: 'object',
        properties: {
          [`p${evil}`]: { type: 'string', description: evil, default: evil, pattern: evil, format: evil },
          q: { enum: [evil, `${evil}2`], title: evil },
          r: { oneOf: [{ const: 'a', title: evil }, { const: 'b' }] },
          s: { anyOf: [{ title: evil, type: 'object' }, { type: 'string' }] },
        },
        required: [`p${evil}`, 'q'],
      },
    }
    expect(helpText(tool, { command: 'x' })).not.toMatch(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/u)
  })

  test('keeps to the width except for example lines, and never fails, for any schema', () => {
    const anySchema = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 })
    fc.assert(
      fc.property(anySchema, fc.integer({ min: 60, max: 120 }), fc.string(), (properties, width, description) => {
        const tool: Tool = { name: 'any', description, inputSchema: { type: 'object', properties } }
        const [about = ''] = helpText(tool, { command: 'c', width }).split('Usage:')
        for (const line of about.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(width)
      }),
    )
  })
})

describe('the examples', () => {
  const read = (tool: Tool, argv: readonly string[]) =>
    parseToolArguments(tool, argv, { readFile: async () => '', readStdin: async () => '' })

  test('show required arguments, then some optional ones', () => {
    expect(exampleArguments(createIssue)).toEqual([
      { repo: 'abc/def', title: 'text' },
      { body: 'text', repo: 'abc/def', title: 'text', labels: ['text'], state: 'open' },
    ])
  })

  test('have values of the right type', () => {
    const properties: JsonSchema = {
      a: { $ref: '#/$defs/a' },
      b: { type: 'array', items: { enum: ['x', 'y', 'z'] }, minItems: 2 },
      c: { anyOf: [{ type: 'integer', minimum: 5 }, { type: 'string' }] },
      d: { type: 'string', maxLength: 2 },
      e: { type: 'array', prefixItems: [] },
      f: { type: 'object' },
      g: {},
      h: { const: 4 },
      i: { type: 'object', properties: { only: { type: 'boolean' } } },
      j: { type: 'array', items: { type: 'number' } },
      k: { type: 'string', format: 'email' },
    }
    const $defs = { a: { type: 'object', properties: { n: { type: 'string' }, o: {} }, required: ['n'] } }
    const tool: Tool = { name: 't', inputSchema: { type: 'object', properties, required: Object.keys(properties), $defs } }
    expect(exampleArguments(tool)).toEqual([
      {
        a: { n: 'text' },
        b: ['x', 'y'],
        c: 5,
        d: 'te',
        e: [null],
        f: {},
        g: 'text',
        h: 4,
        i: { only: true },
        j: [1],
        k: 'name@example.com',
      },
    ])
  })

  test('match patterns and formats; a complex pattern is shown instead', async () => {
    const intricate = '^(?=.*\\d).{8,}$'
    const properties: JsonSchema = {
      to: {
        type: 'object',
        properties: { zip: { type: 'string', pattern: '^\\d{4}$' }, since: { type: 'string', format: 'date' } },
        required: ['zip', 'since'],
      },
      hosts: { type: 'array', items: { type: 'string', format: 'ipv4', pattern: '^[\\d.]+$' } },
      at: { type: 'string', format: 'date-time' },
      tags: { type: 'array', items: { type: 'string', pattern: '^[A-Z]{3}$' }, minItems: 1 },
      code: { type: 'string', pattern: intricate },
    }
    const tool: Tool = { name: 'send', inputSchema: { type: 'object', properties, required: Object.keys(properties) } }
    const help = helpText(tool, { command: 'unfold call post', width: 120 })
    expect(help).toMatch(/--to\.zip <text> +Matching \^\\d\{4\}\$\./u)
    expect(help).toContain('--to.since <date>')
    expect(help).toMatch(/--hosts <ipv4> +Repeatable\. Each matching \^\[\\d\.\]\+\$\./u)
    expect(help).toContain('--at <date-time>')
    expect(help).toMatch(/--tags <text> +At least 1 value\. Repeatable\. Each matching \^\[A-Z\]\{3\}\$\./u)
    const [sample = {}] = exampleArguments(tool)
    expect(sample).toEqual({
      to: { zip: '1234', since: '2026-01-31' },
      hosts: ['192.0.2.1'],
      at: '2026-01-31T12:00:00Z',
      tags: ['ABC'],
      code: `<matches ${intricate}>`,
    })
    const validate = new Ajv2020({ formats: { date: true, 'date-time': true, ipv4: true } }).compile(tool.inputSchema)
    expect(validate({ ...sample, code: 'abcdefg1' })).toBe(true)
    expect(help).toContain('unfold call post send --to.zip 1234 --to.since 2026-01-31 --hosts 192.0.2.1')
  })

  test('can be run unchanged', async () => {
    const help = helpText(createIssue, { command, width: 100 })
    const [, least] = /Examples:\n {2}unfold call github create_issue (.*)\n/u.exec(help) ?? []
    const { args, problems } = await read(createIssue, (least ?? '').split(' '))
    expect(problems).toEqual([])
    expect(args).toEqual({ repo: 'abc/def', title: 'text' })
  })
})
