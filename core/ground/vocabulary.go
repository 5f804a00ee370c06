package ground

import "foible.dev/foible/core/pddl"

func (t *Task) vocabulary() {
	d := t.Problem.Domain
	t.objects = map[*pddl.Object]int{}
	for i, o := range t.Problem.AllObjects() {
		t.objects[o] = i
		t.objectNames = append(t.objectNames, o.Name)
		t.objectTypes = append(t.objectTypes, o.Type)
		t.objectValues = append(t.objectValues, constant(objectValue(i)))
	}
	t.objectLists = map[*pddl.Parameter][]int{}
	t.predicates = map[*pddl.Predicate]int32{}
	for i, predicate := range d.Predicates {
		t.predicates[predicate] = int32(i)
	}
	t.functions = map[*pddl.Function]int32{}
	for i, f := range d.Functions {
		t.functions[f] = int32(i)
	}
	t.static, t.dynamic, t.numbers, t.constants = newTuples(), newTuples(), newTuples(), newTuples()
	t.instanceIDs = newTuples()
	t.derived = map[*pddl.Predicate]*rules{}
}

// objectsOf are the objects that a parameter may stand for.
func (t *Task) objectsOf(p *pddl.Parameter) []int {
	list, ok := t.objectLists[p]
	if !ok {
		for i, objectType := range t.objectTypes {
			if p.Types.Admit(objectType) {
				list = append(list, i)
			}
		}
		t.objectLists[p] = list
	}
	return list
}

// findChanges finds the predicates and functions that effects change.
func (t *Task) findChanges() {
	t.changed, t.assigned = map[*pddl.Predicate]bool{}, map[*pddl.Function]bool{}
	var visit func(pddl.Effect)
	visit = func(e pddl.Effect) {
		switch e := e.(type) {
		case *pddl.Literal:
			t.changed[e.Atom.Predicate] = true
		case *pddl.Assign:
			t.assigned[e.Fluent.Function] = true
		case *pddl.Both:
			for _, part := range e.Parts {
				visit(part)
			}
		case *pddl.When:
			visit(e.Then)
		case *pddl.Each:
			visit(e.Body)
		}
	}
	for _, a := range t.Problem.Domain.Actions {
		visit(a.Effect)
	}
}
