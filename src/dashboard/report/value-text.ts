// Inputs and settings as text.

export function valueText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  // A source that reads a plot of another script, whose text would fill the page.
  if (typeof value === 'object' && value !== null && 'plot' in value)
    return `${String(value.plot)} of another script`
  return value === null ? 'none' : (JSON.stringify(value) ?? '')
}
