// What is asked of the report on screen, also from elsewhere: whether its script sees the future, and a link to it.

import { openDialog } from '../ui/dialogs.tsx'
import { run } from '../workspace.ts'

export async function doubt(): Promise<void> {
  const { RepaintDialog } = await import('./repaint.tsx')
  if (run.peek()) openDialog(<RepaintDialog run={run.peek()!} />)
}

export async function share(): Promise<void> {
  const { Share } = await import('./share.tsx')
  if (run.peek()) openDialog(<Share run={run.peek()!} />)
}
