import { Diff } from '../components/diff.tsx'
import type { SettingsResult } from '../data/contract.ts'
import { t } from '../locales/translate.ts'
import { href } from '../router/route.ts'

/** What an edit of a server would change, and whether somebody has to approve it. */
export function SettingsPreview({ preview: { differences, needsApproval } }: { readonly preview: SettingsResult }) {
  return (
    <>
      <Diff label={t('settings.diff')} differences={differences} />
      {needsApproval && (
        <p>
          {t('settings.needs-approval')} <a href={href(['review'])}>{t('nav.review')}</a>
        </p>
      )}
    </>
  )
}
