// An area to drop files on, with a button to choose them.

import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Button } from '../ui/ui.tsx'
import { filesDropped } from './dropped-files.ts'
import s from './page.module.css'

interface DropZoneProps {
  readonly accept: string
  /** What the files are, for screen readers. */
  readonly label?: string
  readonly onFiles: (files: File[]) => void
  readonly children: ComponentChildren
  readonly multiple?: boolean
  readonly disabled?: boolean
}

export function DropZone(zone: DropZoneProps) {
  const { accept, label = 'File', onFiles, children, multiple = false, disabled = false } = zone
  const [over, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  return (
    <div
      class={s.drop}
      data-over={over}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(!disabled)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        void filesDropped(event.dataTransfer).then((files) => {
          if (!disabled && files.length > 0) onFiles(multiple ? files : files.slice(0, 1))
        })
      }}
    >
      {children}
      <input
        ref={input}
        class="visually-hidden"
        type="file"
        accept={accept}
        multiple={multiple}
        disabled={disabled}
        tabIndex={-1}
        aria-label={label}
        onChange={(event) => {
          const chosen = event.currentTarget
          const files = [...(chosen.files ?? [])]
          if (files.length > 0) onFiles(files)
          chosen.value = ''
        }}
      />
      <Button size="small" icon="upload" disabled={disabled} onClick={() => input.current?.click()}>
        Choose {multiple ? 'files' : 'a file'}
      </Button>
    </div>
  )
}
