// Every named constant, used where a script uses it: what the chart, the order or the text then says.
//
// The names and values are those of TradingView's reference manual, written out; `name=value` a constant.

import { describe, expect, test } from 'bun:test'
import { answer, runScript } from './script.ts'

type Pair = readonly [name: string, value: string]

function pairs(text: string): Pair[] {
  return text
    .trim()
    .split(/\s+/)
    .map((pair) => {
      const [name = '', value = ''] = pair.split('=')
      return [name, value] as const
    })
}

/** `option` of the only track of a kind that the script draws. */
function optionOf(body: string, kind: string, option: string, declaration?: string): unknown {
  const { tracks } = runScript(body, declaration === undefined ? {} : { declaration })
  const track = tracks.find((each) => each.kind === kind)
  return (track as unknown as Record<string, unknown> | undefined)?.[option]
}

/** `field` of the only drawing of a kind. */
function fieldOf(body: string, kind: string, field: string): unknown {
  const items = optionOf(`if barstate.isfirst\n    ${body}`, kind, 'items') as Record<string, unknown>[]
  return items[0]?.[field]
}

describe('colours', () => {
  const COLORS = pairs(`
    color.aqua=#00BCD4 color.black=#363A45 color.blue=#2962FF color.fuchsia=#E040FB color.gray=#787B86
    color.green=#4CAF50 color.lime=#00E676 color.maroon=#880E4F color.navy=#311B92 color.olive=#808000
    color.orange=#FF9800 color.purple=#9C27B0 color.red=#F23645 color.silver=#B2B5BE color.teal=#089981
    color.white=#FFFFFF color.yellow=#FDD835`)
  test.each(COLORS)('%s is %s', (name, value) => {
    expect(optionOf(`plot(close, color = ${name})`, 'plot', 'color')).toBe(`${value}FF`)
  })
  test.each(pairs('color.red=#FF5252 color.teal=#00897B color.yellow=#FFEB3B'))(
    '%s was %s before version 6',
    (name, value) => {
      const { tracks } = runScript(`plot(close, color = ${name})`, { version: 5 })
      expect(tracks.find((track) => track.kind === 'plot')).toMatchObject({ color: `${value}FF` })
    },
  )
})

describe('plots', () => {
  const STYLES = pairs(`
    plot.style_area=area plot.style_areabr=areabr plot.style_circles=circles plot.style_columns=columns
    plot.style_cross=cross plot.style_histogram=histogram plot.style_line=line plot.style_linebr=linebr
    plot.style_stepline=stepline plot.style_stepline_diamond=stepline_diamond plot.style_steplinebr=steplinebr`)
  test.each(STYLES)('%s is drawn as %s', (name, value) => {
    expect(optionOf(`plot(close, style = ${name})`, 'plot', 'style')).toBe(value)
  })
  test.each(pairs('plot.linestyle_dashed=dashed plot.linestyle_dotted=dotted plot.linestyle_solid=solid'))(
    '%s is %s',
    (name, value) => {
      expect(optionOf(`plot(close, linestyle = ${name})`, 'plot', 'linestyle')).toBe(value)
    },
  )
  test.each(pairs('hline.style_dashed=dashed hline.style_dotted=dotted hline.style_solid=solid'))(
    '%s is %s',
    (name, value) => {
      expect(optionOf(`hline(5, linestyle = ${name})`, 'hline', 'linestyle')).toBe(value)
    },
  )
  const SHAPES = pairs(`
    shape.arrowdown=arrowdown shape.arrowup=arrowup shape.circle=circle shape.cross=cross shape.diamond=diamond
    shape.flag=flag shape.labeldown=labeldown shape.labelup=labelup shape.square=square
    shape.triangledown=triangledown shape.triangleup=triangleup shape.xcross=xcross`)
  test.each(SHAPES)('%s is the shape %s', (name, value) => {
    expect(optionOf(`plotshape(close > 11, style = ${name})`, 'shape', 'style')).toBe(value)
  })
  const LOCATIONS = pairs(`
    location.abovebar=abovebar location.absolute=absolute location.belowbar=belowbar location.bottom=bottom
    location.top=top`)
  test.each(LOCATIONS)('%s is at %s', (name, value) => {
    expect(optionOf(`plotchar(close, char = "x", location = ${name})`, 'char', 'location')).toBe(value)
  })
  const SIZES = pairs(
    'size.auto=auto size.huge=huge size.large=large size.normal=normal size.small=small size.tiny=tiny',
  )
  test.each(SIZES)('%s is %s', (name, value) => {
    expect(optionOf(`plotshape(true, size = ${name})`, 'shape', 'size')).toBe(value)
    expect(fieldOf(`label.new(0, 1, size = ${name})`, 'label', 'size')).toBe(value)
    expect(fieldOf(`box.new(0, 1, 2, 0, text_size = ${name})`, 'box', 'text_size')).toBe(value)
  })

  // Each place a value is displayed at is a bit of its own, so that they can be added and taken away.
  const PLACES = pairs(`
    display.none=0 display.pane=1 display.data_window=2 display.price_scale=4 display.status_line=8
    display.pine_screener=16 display.all=31`)
  test.each(PLACES)('%s is %s', (name, value) => {
    expect(optionOf(`plot(close, display = ${name})`, 'plot', 'display')).toBe(Number(value))
  })
  test('all places but one', () => {
    const body = 'plot(close, display = display.all - display.status_line)'
    expect(optionOf(body, 'plot', 'display')).toBe(1 + 2 + 4 + 16)
  })
})

describe('drawings', () => {
  const LABELS = pairs(`
    label.style_arrowdown=arrowdown label.style_arrowup=arrowup label.style_circle=circle label.style_cross=cross
    label.style_diamond=diamond label.style_flag=flag label.style_label_center=label_center
    label.style_label_down=label_down label.style_label_left=label_left
    label.style_label_lower_left=label_lower_left label.style_label_lower_right=label_lower_right
    label.style_label_right=label_right label.style_label_up=label_up
    label.style_label_upper_left=label_upper_left label.style_label_upper_right=label_upper_right
    label.style_none=none label.style_square=square label.style_text_outline=text_outline
    label.style_triangledown=triangledown label.style_triangleup=triangleup label.style_xcross=xcross`)
  test.each(LABELS)('%s is the label %s', (name, value) => {
    expect(fieldOf(`label.new(0, 1, style = ${name})`, 'label', 'style')).toBe(value)
  })
  test.each(pairs('yloc.abovebar=abovebar yloc.belowbar=belowbar yloc.price=price'))(
    '%s puts a label at %s',
    (name, value) => {
      expect(fieldOf(`label.new(0, 1, yloc = ${name})`, 'label', 'yloc')).toBe(value)
    },
  )
  test.each(pairs('xloc.bar_index=bar_index xloc.bar_time=bar_time'))('%s counts %s', (name, value) => {
    expect(fieldOf(`label.new(0, 1, xloc = ${name})`, 'label', 'xloc')).toBe(value)
  })
  const LINES = pairs(`
    line.style_arrow_both=arrow_both line.style_arrow_left=arrow_left line.style_arrow_right=arrow_right
    line.style_dashed=dashed line.style_dotted=dotted line.style_solid=solid`)
  test.each(LINES)('%s is a %s line', (name, value) => {
    expect(fieldOf(`line.new(0, 1, 2, 3, style = ${name})`, 'line', 'style')).toBe(value)
  })
  test.each(pairs('extend.both=both extend.left=left extend.none=none extend.right=right'))(
    '%s goes on to %s',
    (name, value) => {
      expect(fieldOf(`line.new(0, 1, 2, 3, extend = ${name})`, 'line', 'extend')).toBe(value)
      expect(fieldOf(`box.new(0, 1, 2, 0, extend = ${name})`, 'box', 'extend')).toBe(value)
    },
  )
  const POSITIONS = pairs(`
    position.bottom_center=bottom_center position.bottom_left=bottom_left position.bottom_right=bottom_right
    position.middle_center=middle_center position.middle_left=middle_left position.middle_right=middle_right
    position.top_center=top_center position.top_left=top_left position.top_right=top_right`)
  test.each(POSITIONS)('%s is the place %s', (name, value) => {
    expect(fieldOf(`table.new(${name}, 1, 1)`, 'table', 'position')).toBe(value)
  })
  test.each(pairs('text.align_left=left text.align_center=center text.align_right=right'))(
    '%s aligns to the %s',
    (name, value) => {
      expect(fieldOf(`box.new(0, 1, 2, 0, text_halign = ${name})`, 'box', 'text_halign')).toBe(value)
      expect(fieldOf(`label.new(0, 1, textalign = ${name})`, 'label', 'textalign')).toBe(value)
    },
  )
  test.each(pairs('text.align_top=top text.align_center=center text.align_bottom=bottom'))(
    '%s aligns to the %s of a box',
    (name, value) => {
      expect(fieldOf(`box.new(0, 1, 2, 0, text_valign = ${name})`, 'box', 'text_valign')).toBe(value)
    },
  )
  test.each(pairs('text.wrap_auto=auto text.wrap_none=none'))('%s wraps: %s', (name, value) => {
    expect(fieldOf(`box.new(0, 1, 2, 0, text_wrap = ${name})`, 'box', 'text_wrap')).toBe(value)
  })
  test.each(pairs('text.format_bold=bold text.format_italic=italic text.format_none=none'))(
    '%s is %s',
    (name, value) => {
      expect(fieldOf(`label.new(0, 1, text_formatting = ${name})`, 'label', 'text_formatting')).toBe(value)
    },
  )
  test('bold and italic can be added', () => {
    const body = 'label.new(0, 1, text_formatting = text.format_bold + text.format_italic)'
    expect(fieldOf(body, 'label', 'text_formatting')).toBe('bolditalic')
  })
  test.each(pairs('font.family_default=default font.family_monospace=monospace'))(
    '%s is %s',
    (name, value) => {
      expect(fieldOf(`label.new(0, 1, text_font_family = ${name})`, 'label', 'text_font_family')).toBe(value)
    },
  )
})

describe('words that are told to str.tostring()', () => {
  const WORDS = pairs(`
    adjustment.dividends=dividends adjustment.none=none adjustment.splits=splits
    alert.freq_all=all alert.freq_once_per_bar=once_per_bar alert.freq_once_per_bar_close=once_per_bar_close
    backadjustment.inherit=inherit backadjustment.off=off backadjustment.on=on
    dividends.gross=gross dividends.net=net
    earnings.actual=actual earnings.estimate=estimate earnings.standardized=standardized
    format.inherit=inherit scale.left=left scale.none=none scale.right=right
    session.extended=extended session.regular=regular
    settlement_as_close.inherit=inherit settlement_as_close.off=off settlement_as_close.on=on
    splits.denominator=denominator splits.numerator=numerator
    strategy.cash=cash strategy.fixed=fixed strategy.percent_of_equity=percent_of_equity
    strategy.commission.cash_per_order=cash_per_order strategy.commission.cash_per_contract=cash_per_contract
    strategy.commission.percent=percent
    strategy.direction.all=all strategy.direction.long=long strategy.direction.short=short`)
  test.each(WORDS)('%s is "%s"', (name, value) => {
    expect(answer(name)).toBe(value)
  })
  const CURRENCIES = pairs(`
    currency.AED=AED currency.ARS=ARS currency.AUD=AUD currency.BDT=BDT currency.BHD=BHD currency.BRL=BRL
    currency.BTC=BTC currency.CAD=CAD currency.CHF=CHF currency.CLP=CLP currency.CNY=CNY currency.COP=COP
    currency.CZK=CZK currency.DKK=DKK currency.EGP=EGP currency.ETH=ETH currency.EUR=EUR currency.GBP=GBP
    currency.HKD=HKD currency.HUF=HUF currency.IDR=IDR currency.ILS=ILS currency.INR=INR currency.ISK=ISK
    currency.JPY=JPY currency.KES=KES currency.KRW=KRW currency.KWD=KWD currency.LKR=LKR currency.MAD=MAD
    currency.MXN=MXN currency.MYR=MYR currency.NGN=NGN currency.NOK=NOK currency.NONE=NONE currency.NZD=NZD
    currency.PEN=PEN currency.PHP=PHP currency.PKR=PKR currency.PLN=PLN currency.QAR=QAR currency.RON=RON
    currency.RSD=RSD currency.RUB=RUB currency.SAR=SAR currency.SEK=SEK currency.SGD=SGD currency.THB=THB
    currency.TND=TND currency.TRY=TRY currency.TWD=TWD currency.USD=USD currency.USDT=USDT currency.VES=VES
    currency.VND=VND currency.ZAR=ZAR`)
  test('a currency is its code', () => {
    const names = CURRENCIES.map(([name]) => name)
    const said = answer(`array.join(array.from(${names.join(', ')}), " ")`)
    expect(said.split(' ')).toEqual(CURRENCIES.map(([, code]) => code))
  })
})

describe('numbers', () => {
  test('the days of the week count from Sunday', () => {
    const days = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ')
    expect(days.map((day) => answer(`dayofweek.${day}`))).toEqual(['1', '2', '3', '4', '5', '6', '7'])
  })
  // The bars are of Monday, 8 January 2024.
  test.each([
    ['dayofweek.monday', 0],
    ['dayofweek.tuesday', 1],
    ['dayofweek.wednesday', 2],
    ['dayofweek.thursday', 3],
    ['dayofweek.friday', 4],
    ['dayofweek.saturday', 5],
    ['dayofweek.sunday', 6],
  ])('%s is %i days later', (name, days) => {
    expect(answer(`dayofweek(time + ${days} * 86400000) == ${name}`)).toBe('true')
  })
  test('the base of logarithms and the golden ratio, to the last digit', () => {
    const golden = (1 + Math.sqrt(5)) / 2
    const { plots } = runScript(
      'plot(math.e, "e")\nplot(math.phi, "phi")\nplot(math.rphi, "rphi")\nplot(math.pi, "pi")',
    )
    expect([plots['e']?.[0], plots['phi']?.[0], plots['pi']?.[0]]).toEqual([Math.E, golden, Math.PI])
    expect(plots['rphi']?.[0]).toBeCloseTo(1 / golden, 15)
  })
})

test('gaps and looking ahead are off unless they are asked for', () => {
  expect(answer('barmerge.gaps_off or barmerge.lookahead_off')).toBe('false')
  expect(answer('barmerge.gaps_on and barmerge.lookahead_on')).toBe('true')
})
