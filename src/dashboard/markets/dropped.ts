// Files that are dropped anywhere on the page: they lie here until the page of sources takes them up.

import { signal } from '@preact/signals'
import { filesDropped } from '../frame/dropped-files.ts'
import { navigate } from '../router.ts'

export const dropped = signal<readonly File[]>([])

/** A place that takes files itself says so by preventing the default. */
export function listenForFiles(): void {
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false
  window.addEventListener('dragover', (event) => hasFiles(event) && event.preventDefault())
  window.addEventListener('drop', (event) => {
    if (event.defaultPrevented || !hasFiles(event)) return
    event.preventDefault()
    void filesDropped(event.dataTransfer).then((files) => {
      dropped.value = files
      navigate('/markets/sources')
    })
  })
}
