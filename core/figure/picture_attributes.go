package figure

import (
	"encoding/xml"
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"
)

// attributes of an element, each taken out once; what is left is not understood.
type attributes struct {
	name string
	left []xml.Attr
	err  error
}

func attributesOf(e xml.StartElement) *attributes {
	return &attributes{name: e.Name.Local, left: e.Attr}
}

func (e *attributes) has(key string) bool {
	for _, a := range e.left {
		if a.Name.Local == key {
			return true
		}
	}
	return false
}

func (e *attributes) text(key string) string {
	for i, a := range e.left {
		if a.Name.Local == key {
			e.left = append(e.left[:i:i], e.left[i+1:]...)
			return a.Value
		}
	}
	return ""
}

func (e *attributes) number(key string) float64 {
	if !e.has(key) {
		return 0
	}
	value := e.text(key)
	x, err := numeral(value)
	if err != nil {
		e.fail(key, value)
	}
	return x
}

func (e *attributes) colour(key string, otherwise *color.NRGBA) *color.NRGBA {
	switch value := e.text(key); value {
	case "":
		return otherwise
	case "none":
		return nil
	default:
		c, err := hexColour(value)
		if err != nil {
			e.fail(key, value)
		}
		return &c
	}
}

func (e *attributes) fail(key, value string) {
	if e.err == nil {
		e.err = fmt.Errorf("%s %q of a %s element is not understood", key, value, e.name)
	}
}

// rest is the error of attributes that were not understood.
func (e *attributes) rest() error {
	if e.err == nil && len(e.left) > 0 {
		e.fail(e.left[0].Name.Local, e.left[0].Value)
	}
	return e.err
}

func numeral(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err == nil && (math.IsNaN(x) || math.IsInf(x, 0)) {
		err = strconv.ErrRange
	}
	return x, err
}

// hexColour reads #rrggbb.
func hexColour(s string) (color.NRGBA, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 32)
	if err != nil || len(s) != 7 || s[0] != '#' {
		return color.NRGBA{}, fmt.Errorf("colour %q is not #rrggbb", s)
	}
	return color.NRGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 0xFF}, nil
}
