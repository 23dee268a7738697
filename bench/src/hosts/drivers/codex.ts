import { join } from 'node:path'
import type { Driver } from './driver.ts'
import { putFile } from './files.ts'

const triples: { readonly [platform: string]: string } = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
}
const platform = `${process.platform}-${process.arch}`

/** Codex with a custom model provider. */
export const codex: Driver = {
  id: 'codex',
  title: 'Codex',
  package: '@openai/codex',
  command: 'codex',
  programs: [`@openai/codex-${platform}/vendor/${triples[platform]}/bin/codex`, '@openai/codex/bin/codex.js'],
  wire: 'responses',
  connect: 'codex',
  prepare: ({ home, endpoint }) =>
    putFile(
      join(home, '.codex', 'config.toml'),
      [
        'model = "gpt-5"',
        'model_provider = "lab"',
        'check_for_update_on_startup = false',
        '',
        '[model_providers.lab]',
        'name = "lab"',
        `base_url = "${endpoint}/v1"`,
        'env_key = "LAB_KEY"',
        'wire_api = "responses"',
        '',
        '[analytics]',
        'enabled = false',
        '',
      ].join('\n'),
    ),
  args: (prompt) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
  env: () => ({ LAB_KEY: 'lab' }),
  cannot: { 'a prompt': 'it does not offer the prompts of servers without a terminal' },
}
