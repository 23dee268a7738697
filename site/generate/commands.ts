import { common, type Flag, verbs } from '../../packages/cli/src/grammar/verbs.ts'
import { code, plain, table } from './markdown.ts'

/** The page about the commands of `unfold`, from the data that also makes its help and its completions. */
export function commandsPage(): string {
  const commands = Object.entries(verbs).map(([name, { description, usage, takesServer, flags }]) => {
    const synopsis = `unfold ${name} ${usage}${takesServer === true ? ' [-- <server command>]' : ''}`
    return [`## \`unfold ${name}\``, `${plain(description)}.`, `\`\`\`text\n${synopsis.trim()}\n\`\`\``, flagTable(flags)].join(
      '\n\n',
    )
  })
  return `# Commands

Every command of \`unfold\` with its flags. [The command line](../../docs/guides/command-line.md) explains how to use them.

## Flags of every command

${flagTable(common)}

${commands.join('\n\n')}
`
}

function flagTable(flags: { readonly [name: string]: Flag }): string {
  const rows = Object.entries(flags).map(([name, { short, value, description }]) => [
    code(`${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`),
    plain(description),
  ])
  return rows.length === 0 ? '' : table(['Flag', 'Description'], rows)
}
