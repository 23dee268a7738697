import { manifest } from '../base/package-folder.ts'
import type { OwnPackages } from '../base/packages.ts'

/** Files of a new server project, by path. */
export function scaffold(name: string, { dependency }: OwnPackages): { readonly [path: string]: string } {
  return {
    'package.json': json({
      name,
      version: '0.1.0',
      private: true,
      type: 'module',
      engines: { node: '>=20.19' },
      scripts: {
        prepare: 'tsc',
        build: 'tsc',
        start: 'node dist/server.js',
        http: 'node dist/server.js --http',
      },
      dependencies: {
        '@modelcontextprotocol/server': manifest.dependencies['@modelcontextprotocol/server'],
        '@unfold-mcp/server': dependency('server'),
        zod: '^4.0.0',
      },
      devDependencies: { '@types/node': '^20.19.0', typescript: '^5.9.0 || ^7.0.0' },
    }),
    'tsconfig.json': json({
      compilerOptions: {
        target: 'es2023',
        module: 'nodenext',
        types: ['node'],
        strict: true,
        skipLibCheck: true,
        rootDir: 'src',
        outDir: 'dist',
      },
      include: ['src'],
    }),
    '.mcp.json': json({ mcpServers: { [name]: { command: 'node', args: ['dist/server.js'] } } }),
    '.gitignore': 'dist\nnode_modules\n',
    'src/server.ts': server(name),
    'README.md': readme(name),
  }
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

const server = (name: string): string => `import { defineToolbox, serve } from '@unfold-mcp/server'
import { z } from 'zod'

const notes: string[] = ['Water the plants']

const toolbox = defineToolbox({
  name: '${name}',
  version: '0.1.0',
  description: 'Notes, and the time of day.',
  groups: { notes: { description: 'Notes: read and write them' } },
})

// A tool without a group is always available.
toolbox.tool('now', { description: 'The date and time' }, () => new Date().toISOString())

// Tools of a group are available after the group was activated.
toolbox.tool(
  'write_note',
  {
    group: 'notes',
    description: 'Write a note',
    inputSchema: z.object({ text: z.string().describe('What to note') }),
  },
  ({ text }) => {
    notes.push(text)
    return { notes }
  },
)

await serve(toolbox)
`

const readme = (name: string): string => `# ${name}

An MCP server. Its tools are in [src/server.ts](src/server.ts).

\`\`\`sh
npm install        # installs and builds
unfold list ${name}
unfold call ${name} now
npm run build      # after every change
npm run http       # serves over HTTP
\`\`\`

Claude Code and other clients start the server in this folder as configured in \`.mcp.json\`.
`
