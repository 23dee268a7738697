/** `system` follows the operating system. */
export type ThemePreference = 'system' | 'light' | 'dark'

const key = 'unfold.theme'

export function storedTheme(): ThemePreference {
  try {
    const value = localStorage.getItem(key)
    return value === 'light' || value === 'dark' ? value : 'system'
  } catch {
    // Storage can be disabled.
    return 'system'
  }
}

/** Shows a theme and remembers it in this browser. */
export function applyTheme(preference: ThemePreference): void {
  if (preference === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = preference
  try {
    if (preference === 'system') localStorage.removeItem(key)
    else localStorage.setItem(key, preference)
  } catch {
    // The theme lasts until the page is closed.
  }
}
