import type { Column } from '../components/table.tsx'
import type { Tool } from '../data/contract.ts'
import { formatNumber, t } from '../locales/translate.ts'
import { href } from '../router/route.ts'

export const toolColumns: readonly Column<Tool>[] = [
  {
    key: 'name',
    title: t('tools.name'),
    cell: ({ name }) => <a href={href(['tools', name])}>{name}</a>,
    sort: ({ name }) => name,
  },
  {
    key: 'description',
    title: t('tools.description'),
    cell: ({ description }) => <span class="muted clamp">{description}</span>,
    hideSmall: true,
  },
  { key: 'tokens', title: t('tokens'), cell: ({ tokens }) => formatNumber(tokens), sort: ({ tokens }) => tokens, isNumber: true },
]
