const maxWarnings = 100

/** Passes on the first warnings only, since a faulty server could cause any number. */
export function limitWarnings(onWarning: (warning: string) => void = () => undefined): (warning: string) => void {
  let count = 0
  return (warning) => {
    count++
    if (count <= maxWarnings) onWarning(warning)
    if (count === maxWarnings) onWarning('Further warnings are not reported.')
  }
}
