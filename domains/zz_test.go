package domains_test
import ("testing";"time";"fmt";"foible/core/sweep";"foible/core/inference";"os";"slices")
func TestZZ(t *testing.T){
 all:=readNoiseFree(t)
 slices.SortStableFunc(all,func(a,b noiseFree)int{ if a.set.SearchNoise.Number<b.set.SearchNoise.Number {return -1}; if a.set.SearchNoise.Number>b.set.SearchNoise.Number {return 1}; if a.set.BudgetR.Number*100+a.set.BudgetQ.Number < b.set.BudgetR.Number*100+b.set.BudgetQ.Number {return -1}; if a.set.BudgetR.Number*100+a.set.BudgetQ.Number > b.set.BudgetR.Number*100+b.set.BudgetQ.Number {return 1}; return 0})
 dom:=os.Getenv("DOM")
 s:=loadPublished(t,dom)
 in, fit, report := sweep.DefaultsOf(sweep.Marginal)
 in.ActionNoiseKind = "per_action_odds"
 config := sweep.Config{Inference: in, Fit: fit, Report: report, Seed: 1}
 sum:=time.Duration(0)
 tot:=map[int]int{}
 for i:=range s.Stimuli{
  ready,_:=s.Ready(s.Stimuli[i].ID)
  b0:=time.Now()
  h:=map[int]int{}
  big:=0.
  for _,n:=range all{ if n.domain!=dom{continue}
   cell,err:=ready.Infer(&n.set,config.Procedure("fit"),1)
   if err!=nil{t.Fatal(err)}
   m:=0.; for _,j:=range s.Stimuli[i].JudgementSteps{ if j<len(cell.SE){for _,x:=range cell.SE[j]{m=max(m,x)}}}
   h[cell.Samples]++; tot[cell.Samples]++
   big=max(big,m)
  }
  sum+=time.Since(b0)
  fmt.Println(s.Stimuli[i].ID,len(s.Stimuli[i].Plan),time.Since(b0),h,big)
 }
 fmt.Println("SUM",sum,tot,inference.ZZ,inference.ZE,inference.ZT)
}
