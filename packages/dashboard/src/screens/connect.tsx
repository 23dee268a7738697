import { unfold } from '../commands/command.ts'
import { Card, Loaded, Screen } from '../components/basics.tsx'
import { Command } from '../components/command.tsx'
import type { Status } from '../data/contract.ts'
import { useQuery } from '../data/hooks.ts'
import { t } from '../locales/translate.ts'

/** Clients by their name in `unfold connect`. */
const hosts = [
  ['claude', 'Claude Code'],
  ['claude-desktop', 'Claude Desktop'],
  ['codex', 'Codex'],
  ['gemini', 'Gemini CLI'],
  ['cursor', 'Cursor'],
  ['vscode', 'VS Code'],
] as const

export function Connect() {
  const status = useQuery<Status>('/status', ['call'])
  return (
    <Screen title={t('nav.connect')} lead={t('connect.lead')}>
      <Loaded {...status}>
        {({ clients, url }) => (
          <>
            <Card title={t('connect.address')}>
              <Command text={url} label={t('connect.address')} />
            </Card>
            <div class="grid wide">
              {hosts.map(([command, title]) => (
                <Card key={command} title={title}>
                  <Command text={unfold('connect', command)} />
                </Card>
              ))}
            </div>
            <Card title={t('connect.seen')}>
              <p class="break">
                {clients.length === 0
                  ? t('clients.empty')
                  : clients.map(({ name, version = '' }) => `${name ?? t('clients.unnamed')} ${version}`.trim()).join(', ')}
              </p>
              <p class="muted">{t('connect.more')}</p>
              <Command text="unfold connect --help" />
            </Card>
          </>
        )}
      </Loaded>
    </Screen>
  )
}
