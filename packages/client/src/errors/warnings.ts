const most = 100

/** Passes on the first warnings. A server that does everything wrong would otherwise have the rest of the day filled with them. */
export function bounded(onWarning: (warning: string) => void = () => undefined): (warning: string) => void {
  let told = 0
  return (warning) => {
    told++
    if (told <= most) onWarning(warning)
    if (told === most) onWarning('There are more warnings, and they are not told.')
  }
}
