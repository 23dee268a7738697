import type { Target } from '@unfold-mcp/client'
import type { Tool } from '@unfold-mcp/core'
import { visibleJson } from '../arguments/name.ts'
import type { OwnPackages } from '../base/packages.ts'
import { Names } from './names.ts'
import { targetCode } from './target.ts'
import { commentText, typeText } from './types.ts'

export interface Generated {
  readonly files: { readonly [path: string]: string }
  /** Environment variables that the program needs. */
  readonly variables: readonly string[]
}

/** Files of a package with a command line and a typed client for a server. */
export function generatedFiles(name: string, target: Target, tools: readonly Tool[], packages: OwnPackages): Generated {
  const { text, variables } = targetCode(target, name)
  return {
    variables,
    files: {
      'package.json': packageText(name, packages),
      'tsconfig.json': json({
        compilerOptions: {
          target: 'es2023',
          lib: ['es2023', 'esnext.disposable'],
          module: 'nodenext',
          types: ['node'],
          strict: true,
          skipLibCheck: true,
          declaration: true,
          rootDir: 'src',
          outDir: 'dist',
        },
        include: ['src'],
      }),
      'tools.json': `${JSON.stringify(tools, undefined, 1)}\n`,
      'bin.mjs': binText(name, text, variables),
      'src/client.ts': clientText(name, text, variables, tools),
      'README.md': readmeText(name, tools, variables),
    },
  }
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

const packageText = (name: string, { dependency }: OwnPackages): string =>
  json({
    name: `${name}-cli`,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    bin: { [name]: './bin.mjs' },
    exports: { '.': { types: './dist/client.d.ts', default: './dist/client.js' } },
    scripts: { prepare: 'tsc', build: 'tsc' },
    dependencies: { '@unfold-mcp/cli': dependency('cli'), '@unfold-mcp/client': dependency('client') },
    devDependencies: { '@types/node': '^20.19.0', typescript: '^5.9.0 || ^7.0.0' },
  })

const variableText = (
  isTyped: boolean,
): string => `const variable = (name${isTyped ? ': string' : ''})${isTyped ? ': string' : ''} => {
  const value = process.env[name]
  if (value === undefined) throw new Error(\`\${name} is not set.\`)
  return value
}

`

const binText = (name: string, target: string, variables: readonly string[]): string => `#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { standalone } from '@unfold-mcp/cli/standalone'

${variables.length === 0 ? '' : variableText(false)}const tools = JSON.parse(readFileSync(new URL('./tools.json', import.meta.url), 'utf8'))

await standalone({ name: ${visibleJson(name)}, target: () => (${target}), tools })
`

function clientText(name: string, target: string, variables: readonly string[], tools: readonly Tool[]): string {
  const names = new Names()
  const members = tools.map((tool) => ({
    tool,
    method: names.camel(tool.name),
    args: names.pascal(tool.name, 'Arguments'),
    result: tool.outputSchema === undefined ? undefined : names.pascal(tool.name, 'Output'),
  }))
  const types = members.flatMap(({ tool, args, result }) => [
    `/** Arguments of ${safeName(tool.name)}. */\nexport type ${args} = ${typeText(tool.inputSchema)}\n`,
    ...(result === undefined || tool.outputSchema === undefined
      ? []
      : [`/** Structured result of ${safeName(tool.name)}. */\nexport type ${result} = ${typeText(tool.outputSchema)}\n`]),
  ])
  const resultType = (result: string | undefined): string => (result === undefined ? 'CallResult' : `Answer<${result}>`)
  const optional = ({ inputSchema }: Tool): string =>
    Array.isArray(inputSchema.required) && inputSchema.required.length > 0 ? '' : '?'
  const methods = members.map(
    ({ tool, method, args, result }) =>
      `${commentText(tool.description ?? tool.title, '  ')}  ${method}(args${optional(tool)}: ${args}, options?: CallOptions): Promise<${resultType(result)}>`,
  )
  const bodies = members.map(
    ({ tool, method, result }) =>
      `    ${method}: (args, options) => connection.call(${visibleJson(tool.name)}, { ...args }, options)${result === undefined ? '' : ` as Promise<${resultType(result)}>`},`,
  )
  return `import { type CallOptions, type CallResult, type Connection, connect, type ConnectOptions, type Target } from '@unfold-mcp/client'

${variables.length === 0 ? '' : variableText(true)}/** A result with typed structured content. */
export type Answer<T> = CallResult & { readonly structuredContent?: T }

${types.join('\n')}
/** Client with one method for each tool of ${safeName(name)}. */
export interface Client extends AsyncDisposable {
  readonly connection: Connection
  close(): Promise<void>
${methods.join('\n')}
}

const target = (): Target => (${target})

/** Connects to ${safeName(name)}. */
export async function open(options: ConnectOptions = {}): Promise<Client> {
  const connection = await connect(target(), options)
  return {
    connection,
    close: () => connection.close(),
    [Symbol.asyncDispose]: () => connection.close(),
${bodies.join('\n')}
  }
}
`
}

const safeName = (name: string): string =>
  name
    .slice(0, 200)
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll('*/', '* /')

const maxListed = 100

function readmeText(name: string, tools: readonly Tool[], variables: readonly string[]): string {
  const listed = tools.slice(0, maxListed).map((tool) => `- \`${safeName(tool.name).replaceAll('`', "'")}\``)
  const more = tools.length > maxListed ? [`- and ${tools.length - maxListed} more`] : []
  const needs =
    variables.length === 0 ? '' : `\nRequired environment variables: ${variables.map((each) => `\`${each}\``).join(', ')}.\n`
  return `# ${name}-cli

A command line and a typed client, generated from the tools of the server. Generate them again when the server changes.
${needs}
\`\`\`sh
npm install
node bin.mjs --help
\`\`\`

\`\`\`ts
import { open } from '${name}-cli'

await using client = await open()
\`\`\`

Tools:

${[...listed, ...more].join('\n')}
`
}
