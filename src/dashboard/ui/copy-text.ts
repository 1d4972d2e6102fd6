// Copies text to the clipboard, also on pages without https.

import { toast, toastError } from './ui.tsx'

export function copyText(text: string, what = 'Copied'): void {
  // Without https there is no clipboard API: copy from a text area instead.
  const legacy = () => {
    const area = document.createElement('textarea')
    area.value = text
    area.style.position = 'fixed'
    area.style.opacity = '0'
    document.body.append(area)
    area.select()
    const done = document.execCommand('copy')
    area.remove()
    return done ? Promise.resolve() : Promise.reject(new Error('The browser did not let us copy.'))
  }
  const copied = navigator.clipboard ? navigator.clipboard.writeText(text).catch(legacy) : legacy()
  copied.then(() => toast(what, { tone: 'up' }), toastError)
}
