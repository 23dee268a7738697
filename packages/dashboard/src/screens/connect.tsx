import { unfold } from '../commands/command.ts'
import { Card, Loaded, Screen } from '../components/basics.tsx'
import { Command } from '../components/command.tsx'
import type { Status } from '../data/contract.ts'
import { useQuery } from '../data/hooks.ts'
import { t } from '../locales/translate.ts'

/** Hosts by the name of their command, and how their `clientInfo` names begin. */
const hosts = [
  ['claude', 'Claude Code', 'claude-code'],
  ['codex', 'Codex', 'codex'],
  ['gemini', 'Gemini CLI', 'gemini'],
  ['cursor', 'Cursor', 'cursor'],
  ['vscode', 'VS Code', 'visual studio code'],
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
              {hosts.map(([command, title, prefix]) => {
                const isConnected = clients.some(({ name = '' }) => name.toLowerCase().startsWith(prefix))
                return (
                  <Card key={command} title={title}>
                    <div class="stack">
                      <p class="muted">{t(isConnected ? 'connect.connected' : 'connect.not-yet')}</p>
                      <Command text={unfold('connect', command)} />
                    </div>
                  </Card>
                )
              })}
            </div>
          </>
        )}
      </Loaded>
    </Screen>
  )
}
