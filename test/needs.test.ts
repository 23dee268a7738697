import { expect, test, vi } from 'vitest'
import { needs } from './needs.ts'

test('a missing program is named in a warning and at the end of the title', () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined)
  try {
    expect(needs('no-such-program')).toEqual({ isMissing: true, note: ' (skipped: no-such-program not installed)' })
    expect(warn).toHaveBeenCalledExactlyOnceWith('Skipped: tests that need no-such-program, which is not installed.')
    expect(needs()).toEqual({ isMissing: false, note: '' })
  } finally {
    warn.mockRestore()
  }
})
