// Loaded before the application, so that the page does not flash in the other theme.
import { applyTheme, storedTheme } from './preference.ts'

applyTheme(storedTheme())
