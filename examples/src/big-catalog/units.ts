/** A unit with its factor to the base unit; `zero` if the scales have different origins. */
export interface Unit {
  readonly singular: string
  readonly plural: string
  readonly symbol: string
  readonly size: number
  readonly zero?: number
}

export interface Measure {
  /** Name of the quantity. */
  readonly what: string
  readonly units: readonly Unit[]
}

const unit = (singular: string, symbol: string, size: number, plural = `${singular}s`): Unit => ({
  singular,
  plural,
  symbol,
  size,
})

const degree = (scale: string, symbol: string, size: number, zero: number): Unit => ({
  singular: `degree ${scale}`,
  plural: `degrees ${scale}`,
  symbol,
  size,
  zero,
})

/** All quantities. Each unit can be converted to every other unit of its quantity. */
export const measures = {
  length: {
    what: 'length or distance',
    units: [
      unit('metre', 'm', 1),
      unit('kilometre', 'km', 1_000),
      unit('centimetre', 'cm', 0.01),
      unit('millimetre', 'mm', 0.001),
      unit('inch', 'in', 0.0254, 'inches'),
      unit('foot', 'ft', 0.3048, 'feet'),
      unit('yard', 'yd', 0.9144),
      unit('mile', 'mi', 1_609.344),
      unit('nautical mile', 'nmi', 1_852),
      unit('fathom', 'ftm', 1.8288),
    ],
  },
  mass: {
    what: 'mass or weight',
    units: [
      unit('kilogram', 'kg', 1),
      unit('gram', 'g', 0.001),
      unit('milligram', 'mg', 1e-6),
      unit('tonne', 't', 1_000),
      unit('pound', 'lb', 0.45359237),
      unit('ounce', 'oz', 0.028349523125),
      unit('stone', 'st', 6.35029318, 'stones'),
      unit('grain', 'gr', 0.00006479891),
      unit('carat', 'ct', 0.0002),
    ],
  },
  volume: {
    what: 'volume or capacity',
    units: [
      unit('litre', 'l', 1),
      unit('millilitre', 'ml', 0.001),
      unit('cubic metre', 'm³', 1_000),
      unit('cubic centimetre', 'cm³', 0.001),
      unit('US gallon', 'US gal', 3.785411784),
      unit('imperial gallon', 'imp gal', 4.54609),
      unit('US cup', 'US cup', 0.2365882365),
      unit('tablespoon', 'tbsp', 0.015),
      unit('teaspoon', 'tsp', 0.005),
    ],
  },
  area: {
    what: 'area',
    units: [
      unit('square metre', 'm²', 1),
      unit('square kilometre', 'km²', 1_000_000),
      unit('square centimetre', 'cm²', 0.0001),
      unit('hectare', 'ha', 10_000),
      unit('acre', 'ac', 4_046.8564224),
      unit('square foot', 'ft²', 0.09290304, 'square feet'),
      unit('square inch', 'in²', 0.00064516, 'square inches'),
      unit('square yard', 'yd²', 0.83612736),
      unit('square mile', 'mi²', 2_589_988.110336),
    ],
  },
  duration: {
    what: 'duration',
    units: [
      unit('second', 's', 1),
      unit('millisecond', 'ms', 0.001),
      unit('microsecond', 'µs', 1e-6),
      unit('minute', 'min', 60),
      unit('hour', 'h', 3_600),
      unit('day', 'd', 86_400),
      unit('week', 'wk', 604_800),
    ],
  },
  speed: {
    what: 'speed',
    units: [
      unit('metre per second', 'm/s', 1, 'metres per second'),
      unit('kilometre per hour', 'km/h', 1_000 / 3_600, 'kilometres per hour'),
      unit('mile per hour', 'mph', 0.44704, 'miles per hour'),
      unit('knot', 'kn', 1_852 / 3_600),
      unit('foot per second', 'ft/s', 0.3048, 'feet per second'),
    ],
  },
  pressure: {
    what: 'pressure',
    units: [
      unit('pascal', 'Pa', 1),
      unit('hectopascal', 'hPa', 100),
      unit('kilopascal', 'kPa', 1_000),
      unit('bar', 'bar', 100_000),
      unit('atmosphere', 'atm', 101_325),
      unit('pound per square inch', 'psi', 6_894.757293168361, 'pounds per square inch'),
      unit('millimetre of mercury', 'mmHg', 133.322387415, 'millimetres of mercury'),
    ],
  },
  energy: {
    what: 'energy',
    units: [
      unit('joule', 'J', 1),
      unit('kilojoule', 'kJ', 1_000),
      unit('calorie', 'cal', 4.184),
      unit('kilocalorie', 'kcal', 4_184),
      unit('watt hour', 'Wh', 3_600),
      unit('kilowatt hour', 'kWh', 3_600_000),
      unit('electronvolt', 'eV', 1.602176634e-19),
      unit('British thermal unit', 'BTU', 1_055.05585262),
    ],
  },
  power: {
    what: 'power',
    units: [
      unit('watt', 'W', 1),
      unit('kilowatt', 'kW', 1_000),
      unit('megawatt', 'MW', 1_000_000),
      unit('metric horsepower', 'PS', 735.49875, 'metric horsepower'),
      unit('mechanical horsepower', 'hp', 745.6998715822702, 'mechanical horsepower'),
    ],
  },
  angle: {
    what: 'angle',
    units: [
      unit('degree', '°', 1),
      unit('radian', 'rad', 180 / Math.PI),
      unit('gradian', 'gon', 0.9),
      unit('turn', 'tr', 360),
      unit('arcminute', '′', 1 / 60),
      unit('arcsecond', '″', 1 / 3_600),
    ],
  },
  data_size: {
    what: 'amount of data',
    units: [
      unit('byte', 'B', 1),
      unit('bit', 'b', 1 / 8),
      unit('kilobyte', 'kB', 1_000),
      unit('megabyte', 'MB', 1e6),
      unit('gigabyte', 'GB', 1e9),
      unit('terabyte', 'TB', 1e12),
      unit('kibibyte', 'KiB', 1_024),
      unit('mebibyte', 'MiB', 1_048_576),
      unit('gibibyte', 'GiB', 1_073_741_824),
    ],
  },
  force: {
    what: 'force',
    units: [
      unit('newton', 'N', 1),
      unit('kilonewton', 'kN', 1_000),
      unit('dyne', 'dyn', 1e-5),
      unit('pound-force', 'lbf', 4.4482216152605, 'pounds-force'),
    ],
  },
  frequency: {
    what: 'frequency',
    units: [
      unit('hertz', 'Hz', 1, 'hertz'),
      unit('kilohertz', 'kHz', 1_000, 'kilohertz'),
      unit('megahertz', 'MHz', 1e6, 'megahertz'),
      unit('gigahertz', 'GHz', 1e9, 'gigahertz'),
      unit('revolution per minute', 'rpm', 1 / 60, 'revolutions per minute'),
    ],
  },
  temperature: {
    what: 'temperature',
    units: [
      { singular: 'kelvin', plural: 'kelvins', symbol: 'K', size: 1, zero: 0 },
      degree('Celsius', '°C', 1, 273.15),
      degree('Fahrenheit', '°F', 5 / 9, 459.67 * (5 / 9)),
      degree('Rankine', '°R', 5 / 9, 0),
    ],
  },
} as const satisfies { readonly [name: string]: Measure }
