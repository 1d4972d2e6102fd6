// The logo: three candles in the colours of rising and falling prices.

export const Logo = ({ size = 20 }: { readonly size?: number }) => (
  <svg width={size} height={size} viewBox="0 0 20 20" aria-hidden="true">
    <g stroke-width="1.4" stroke-linecap="round" fill="none">
      <path d="M4 4v12" stroke="var(--down)" />
      <path d="M10 2v16" stroke="var(--up)" />
      <path d="M16 5v10" stroke="var(--up)" />
    </g>
    <rect x="2.2" y="7" width="3.6" height="6" rx="0.8" fill="var(--down)" />
    <rect x="8.2" y="5" width="3.6" height="9" rx="0.8" fill="var(--up)" />
    <rect x="14.2" y="7" width="3.6" height="5" rx="0.8" fill="var(--up)" />
  </svg>
)
